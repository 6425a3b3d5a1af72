package web

import (
	"os"
	"strings"
	"time"
)

// localZone is the name that Go gives to the machine's time zone if it does not know a better one.
const localZone = "Local"

// zoneLink is where a system says which time zone it lives in: a variable that stands above all, or
// what /etc/localtime points to.
func zoneLink() string {
	if zone := os.Getenv("TZ"); zone != "" {
		return zone
	}
	target, _ := os.Readlink("/etc/localtime") // a copy instead of a link has no name
	return target
}

// zoneName is a time zone for people: its IANA name, also if it is the machine's and link tells it (see
// zoneLink), else how far from UTC it is at that moment.
func zoneName(stored string, local *time.Location, link string, at time.Time) string {
	if stored != "" && stored != localZone {
		return stored
	}
	if name := local.String(); name != localZone {
		return name
	}
	if _, name, ok := strings.Cut(link, "zoneinfo/"); ok {
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	return at.In(local).Format("UTC-07:00")
}
