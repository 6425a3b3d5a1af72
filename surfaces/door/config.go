package door

import (
	"context"
	"log/slog"
	"net"
	"net/url"
)

// Parts is what a surface is built from.
type Parts struct {
	Reply string                                                            // of its bot: "" | "mention" | "thread" | "always"; "" = the platform's default
	Log   *slog.Logger                                                      //
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the system's
}

// CheckURL reports the address of a platform's API that is none; usual is the one to write.
func CheckURL(address, usual string, problem func(key, what string)) {
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		problem("api_url", `is no address; write "`+usual+`"`)
	}
}
