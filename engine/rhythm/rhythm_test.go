package rhythm

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// dueIn lists when a schedule is due between two moments.
func dueIn(t *testing.T, cron string, loc *time.Location, from, to time.Time) (list []string) {
	t.Helper()
	r, err := Parse(cron, loc)
	if err != nil {
		t.Fatal(err)
	}
	for at := r.Next(time.Time{}, from); !at.IsZero() && at.Before(to); at = r.Next(at, at) {
		list = append(list, at.In(loc).Format("2 15:04 MST"))
	}
	return list
}

// A schedule over both changes of the clock: each time of day once a day, also the one that is left
// out and the one that comes twice; what is due every hour by the hours that pass.
func TestScheduleOverClockChanges(t *testing.T) {
	berlin, york, paulo, howe := zone(t, "Europe/Berlin"), zone(t, "America/New_York"), zone(t, "America/Sao_Paulo"), zone(t, "Australia/Lord_Howe")
	spring := func(loc *time.Location, m time.Month, d int) (time.Time, time.Time) {
		return time.Date(2026, m, d, 0, 0, 0, 0, loc).Add(-time.Second), time.Date(2026, m, d+1, 0, 0, 0, 0, loc)
	}
	for _, c := range []struct {
		name, cron string
		loc        *time.Location
		month      time.Month
		day        int
		want       string
	}{
		{"left out", "30 2 * * *", berlin, time.March, 29, "29 03:00 CEST"},
		{"twice", "30 2 * * *", berlin, time.October, 25, "25 02:30 CEST"},
		{"left out, America", "15 2 * * *", york, time.March, 8, "8 03:00 EDT"},
		{"twice, America", "15 1 * * *", york, time.November, 1, "1 01:15 EDT"},
		{"beside it", "0 1 * * *", berlin, time.March, 29, "29 01:00 CET"},
		{"after it", "0 3 * * *", berlin, time.October, 25, "25 03:00 CET"},
		{"several, left out", "0,20,40 1,2 * * *", berlin, time.March, 29, "29 01:00 CET|29 01:20 CET|29 01:40 CET|29 03:00 CEST"},
		{"several, twice", "0,30 2 * * *", berlin, time.October, 25, "25 02:00 CEST|25 02:30 CEST"},
		{"half an hour, left out", "15 2 * * *", howe, time.October, 4, "4 02:30 +11"},
		{"half an hour, twice", "45 1 * * *", howe, time.April, 5, "5 01:45 +11"},
		{"every other hour", "0 */2 * * *", berlin, time.March, 29, "29 00:00 CET|29 04:00 CEST|29 06:00 CEST|29 08:00 CEST|29 10:00 CEST|29 12:00 CEST|29 14:00 CEST|29 16:00 CEST|29 18:00 CEST|29 20:00 CEST|29 22:00 CEST"},
		{"day", "@daily", berlin, time.March, 29, "29 00:00 CET"},
	} {
		from, to := spring(c.loc, c.month, c.day)
		if got := strings.Join(dueIn(t, c.cron, c.loc, from, to), "|"); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.cron, got, c.want)
		}
	}
	from, to := spring(berlin, time.March, 29)
	if got := dueIn(t, "@hourly", berlin, from, to); len(got) != 23 || slices.Contains(got, "29 02:00 CET") {
		t.Errorf("%v", got)
	}
	from, to = spring(berlin, time.October, 25)
	if got := dueIn(t, "0 * * * *", berlin, from, to); len(got) != 25 || !slices.Contains(got, "25 02:00 CEST") || !slices.Contains(got, "25 02:00 CET") {
		t.Errorf("%v", got)
	}
	if got := dueIn(t, "*/30 * * * *", berlin, from, to); len(got) != 50 {
		t.Errorf("%d", len(got))
	}
	// Midnight itself is left out: the day begins at one.
	from, to = time.Date(2018, 11, 3, 12, 0, 0, 0, paulo), time.Date(2018, 11, 5, 12, 0, 0, 0, paulo)
	if got := strings.Join(dueIn(t, "0 0 * * *", paulo, from, to), "|"); got != "4 01:00 -02|5 00:00 -02" {
		t.Errorf("%s", got)
	}
	// A whole year of 02:30: once a day.
	from, to = time.Date(2026, 1, 1, 0, 0, 0, 0, berlin), time.Date(2027, 1, 1, 0, 0, 0, 0, berlin)
	if got := dueIn(t, "30 2 * * *", berlin, from, to); len(got) != 365 {
		t.Errorf("%d times in a year", len(got))
	}
}

func TestEvery(t *testing.T) {
	r, err := Parse("@every 90m", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct{ last, now, want time.Time }{
		{time.Time{}, at, at.Add(90 * time.Minute)},
		{at, at.Add(time.Second), at.Add(90 * time.Minute)},
		{at, at.Add(5 * time.Hour), at.Add(6 * time.Hour)},
		{at, at.Add(6 * time.Hour), at.Add(450 * time.Minute)},
		{at, at.Add(-time.Hour), at.Add(90 * time.Minute)},
	} {
		if got := r.Next(c.last, c.now); !got.Equal(c.want) {
			t.Errorf("next(%v, %v) = %v, want %v", c.last, c.now, got, c.want)
		}
	}
}

func TestBadRhythms(t *testing.T) {
	for text, why := range map[string]string{
		"": "empty", "* * * *": "5", "61 * * * *": "61", "0 0 30 2 *": "never", "TZ=Europe/Berlin 0 9 * * *": "timezone", "CRON_TZ=UTC 0 9 * * *": "timezone",
		"@every -1h": "above 0", "@every 1d": "@every", "0 9 * * 1-5 2026": "5", "@often": "@often",
	} {
		if _, err := Parse(text, time.UTC); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for text, often := range map[string]bool{"*/5 * * * *": false, "*/4 * * * *": true, "@every 5m": false, "@every 299s": true, "0,1 9 1 1 *": true, "58 * * * *": false, "3,58 * * * *": false, "2,58 * * * *": true} {
		r, err := Parse(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if r.TooOften(now, 5*time.Minute) != often {
			t.Errorf("%q: too often is %v", text, !often)
		}
	}
}

func FuzzRhythm(f *testing.F) {
	for _, text := range []string{"0 9 * * 1-5", "@every 1h", "*/7 2-5 1,15 * 0", "@daily", "30 2 29 2 *"} {
		f.Add(text, int64(1774746000))
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, at int64) {
		r, err := Parse(text, berlin)
		if err != nil || at < 0 || at > 4e9 {
			return
		}
		now := time.Unix(at, 0)
		if next := r.Next(time.Time{}, now); !next.IsZero() && !next.After(now) {
			t.Errorf("%q is due at %v, not after %v", text, next, now)
		}
	})
}
