package ladder

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func problems(c Config) map[string]string {
	found := map[string]string{}
	c.Validate(func(key, what string) { found[key] = what })
	return found
}

func TestDefaultIsValidS8(t *testing.T) {
	if found := problems(Default()); len(found) > 0 {
		t.Fatal(found)
	}
}

func TestZeroMeansNone(t *testing.T) {
	c := settings(plain, neverDown, func(c *Config) {
		c.Waits, c.MaxParks, c.MaxRequests, c.MaxWaiting, c.ResendLongest = 0, 0, 0, 0, 0
		c.Rearm, c.Cooldown = nil, Cooldown{}
	})
	if found := problems(c); len(found) > 0 {
		t.Fatal(found)
	}
}

func TestRearmR7(t *testing.T) {
	for name, c := range map[string]struct {
		list []time.Duration
		ok   bool
	}{
		"false": {nil, true}, "empty": {[]time.Duration{}, false}, "one": {seconds(1), true},
		"zero": {seconds(1, 0), false}, "negative": {seconds(-1), false},
	} {
		_, bad := problems(settings(func(s *Config) { s.Rearm = c.list }))["rearm"]
		if bad == c.ok {
			t.Errorf("%s: refused is %v", name, bad)
		}
	}
}

// Every key of the section is checked: each number and duration refuses -1, each word nonsense.
func TestEveryKeyIsValidated(t *testing.T) {
	var walk func(v reflect.Value, prefix string, c *Config)
	walk = func(v reflect.Value, prefix string, c *Config) {
		for i := range v.NumField() {
			key, field := prefix+v.Type().Field(i).Tag.Get("toml"), v.Field(i)
			before := reflect.ValueOf(field.Interface())
			switch field.Kind() {
			case reflect.Struct:
				walk(field, key+".", c)
				continue
			case reflect.Int, reflect.Int64:
				field.SetInt(-1)
			case reflect.String:
				field.SetString("nonsense")
			default:
				continue
			}
			if found := slices.Collect(maps.Keys(problems(*c))); !slices.Equal(found, []string{key}) {
				t.Errorf("%s is wrong: reported %q", key, found)
			}
			field.Set(before)
		}
	}
	c := Default()
	walk(reflect.ValueOf(&c).Elem(), "", &c)
}

func TestProblemsSayWhatToWrite(t *testing.T) {
	found := problems(settings(func(c *Config) { c.WaitBase, c.ParkHorizon, c.StatedWaitMode = 0, -1, "never" }))
	for key, want := range map[string]string{
		"wait_base": `"2s"`, "park_horizon": `"15m"`, "stated_wait_mode": `["hold" "horizon" "end"]`,
	} {
		if !strings.Contains(found[key], want) {
			t.Errorf("%s: %q does not say %s", key, found[key], want)
		}
	}
}
