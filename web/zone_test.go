package web

import (
	"testing"
	"time"

	"holdfast/store"
)

func TestZoneName(t *testing.T) {
	nameless := time.FixedZone("Local", 2*60*60)
	for _, c := range []struct {
		stored string
		local  *time.Location
		link   string
		want   string
	}{
		{"Europe/Berlin", nameless, "../usr/share/zoneinfo/Asia/Tokyo", "Europe/Berlin"},
		{"Local", nameless, "../usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"},
		{"", nameless, "/var/db/timezone/zoneinfo/America/Argentina/Ushuaia", "America/Argentina/Ushuaia"},
		{"Local", time.UTC, "", "UTC"},
		{"Local", nameless, "", "UTC+02:00"},
		{"Local", nameless, "/usr/share/zoneinfo/No/Where", "UTC+02:00"},
		{"Local", time.FixedZone("Local", -(3*60+30)*60), "<-0330>3:30", "UTC-03:30"},
	} {
		if got := zoneName(c.stored, c.local, c.link, time.UnixMilli(0)); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// A schedule without a zone of its own is shown with the machine's, which is never called Local.
func TestScheduleOfTheMachine(t *testing.T) {
	for _, stored := range []string{"", "Local"} {
		got := showSchedule(store.Schedule{Timezone: stored}).Timezone
		if _, err := time.Parse("UTC-07:00", got); err == nil {
			continue
		}
		if _, err := time.LoadLocation(got); err != nil || got == localZone || got == "" {
			t.Errorf("%q is shown as %q: %v", stored, got, err)
		}
	}
}
