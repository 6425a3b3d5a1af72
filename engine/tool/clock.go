package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// NewClock is the built-in time: what time it is, in the zone of the house or another. A nil loc is the
// machine's zone.
func NewClock(wall func() time.Time, loc *time.Location) Set {
	if loc == nil {
		loc = time.Local
	}
	return Fixed{act{
		Spec{
			Name: "time", Title: "Time", ReadOnly: true,
			Description: "Tells the current date, time, weekday and ISO week, in the local time zone or in another one.",
			Schema:      json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string","description":"An IANA time zone such as Asia/Tokyo or UTC. Left out: the local one."}}}`),
		},
		plainly(func(_ context.Context, _ Call, in clockArguments) (string, error) {
			zone := loc
			if in.Zone != "" {
				var err error
				if zone, err = time.LoadLocation(in.Zone); err != nil {
					return "", fmt.Errorf("%q is no time zone known here; write a name like Europe/Berlin", in.Zone)
				}
			}
			return clockText(wall().In(zone)), nil
		}),
	}}
}

type clockArguments struct {
	Zone string `json:"zone"`
}

// clockText is a moment with everything that a model is bad at working out.
func clockText(now time.Time) string {
	year, week := now.ISOWeek()
	zone, _ := now.Zone()
	if name := now.Location().String(); name != "Local" && name != zone {
		zone = name + ", " + zone
	}
	return fmt.Sprintf("%s, %s, week %d of %d (%s, UTC%s)", now.Format("2006-01-02 15:04:05"), now.Weekday(), week, year, zone, now.Format("-07:00"))
}
