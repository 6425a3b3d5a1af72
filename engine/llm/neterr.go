package llm

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
)

// certificate reports an error of certificate or scheme: no repetition heals it.
func certificate(err error, text string) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	return has(text, "x509:", "failed to verify certificate", "certificate signed by", "certificate has expired",
		"tls: bad certificate", "tls: unknown certificate", "tls: certificate required", "tls: expired certificate",
		"tls: revoked certificate", "tls: unsupported certificate", "tls: protocol version", "tls: no application protocol",
		"server gave http response to https client", "does not look like a tls handshake", "unsupported protocol scheme",
		`malformed http response "\x15\x03`, "no host in request url", "missing protocol scheme")
}

// isTimeout reports what the net package marks as a timeout.
func isTimeout(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && t.Timeout()
}

// withoutAddress drops the address that net/http puts before its errors: a log has the provider's
// name, and the address may hold a key.
func withoutAddress(text string) string {
	for _, method := range []string{`Post "`, `Get "`} {
		if rest, ok := strings.CutPrefix(text, method); ok {
			if _, after, ok := strings.Cut(rest, `": `); ok {
				return after
			}
		}
	}
	return text
}
