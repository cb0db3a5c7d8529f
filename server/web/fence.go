package web

import (
	"net/http"
	"net/url"
	"strings"
)

// A fence decides by a request's Host and Origin from where it may come. Safe for concurrent use.
type fence struct {
	local   bool // only this machine can connect
	origins map[string]bool
}

func newFence(cfg *Config, local bool) *fence {
	f := &fence{local: local, origins: make(map[string]bool)}
	for _, o := range cfg.AllowedOrigins {
		origin, _ := parseOrigin(o)
		f.origins[origin] = true
	}
	return f
}

// check says why r is refused, or nil. It sets the CORS headers of whatever answers r, refusals included, so that an
// allowed page can read why. Whether r is a preflight, which cannot carry a token, is the second result.
func (f *fence) check(header http.Header, r *http.Request) (*refusal, bool) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	// DNS rebinding: a page of evil.example that has let its name point to 127.0.0.1 still sends "Host: evil.example".
	// The port says nothing, since tunnels and containers change it. A server for other machines has other names, and a
	// token that a page does not know.
	if f.local && !isLoopback(r.Host) {
		return forbidden("This server answers to localhost only, and the request's Host header names another host."), false
	}
	if refused := f.checkOrigin(header, r); refused != nil {
		return refused, false
	}
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		return nil, true
	}
	return nil, false
}

func (f *fence) checkOrigin(header http.Header, r *http.Request) *refusal {
	header.Add("Vary", "Origin")
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return nil // no browser, or a browser that navigates or reads without script
	}
	origin, ok := parseOrigin(values[0])
	own := ok && strings.EqualFold(origin[strings.Index(origin, "//")+2:], strings.TrimSuffix(r.Host, ":80"))
	if len(values) > 1 || !own && !f.origins[origin] {
		return forbidden("Pages of this origin may not call this server. A person can allow it with --allowed-origins.")
	}
	header.Set("Access-Control-Allow-Origin", values[0])
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate")
	if r.Method == http.MethodOptions {
		header.Set("Access-Control-Allow-Methods", "GET, POST")
		header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, "+
			"Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
		header.Set("Access-Control-Max-Age", "600")
	}
	return nil
}

// parseOrigin returns s, which must be scheme://host[:port] of the web, in lower case and without a default port.
func parseOrigin(s string) (string, bool) {
	u, err := url.Parse(strings.ToLower(s))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Scheme+"://"+u.Host != strings.ToLower(s) ||
		strings.Contains(s, "*") {
		return "", false
	}
	port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(u.Host, port), true
}
