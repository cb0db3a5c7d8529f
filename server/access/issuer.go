package access

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
)

const (
	// fetchLimit bounds one fetch of the issuer's metadata and keys.
	fetchLimit = 5 * time.Second
	// maxDocument is the most bytes of one document of the issuer.
	maxDocument = 1 << 20
)

// An issuer is asked for its keys. Redirects are not followed: an open one would let others name the keys.
type issuer struct {
	name   string // its URL, as it names itself
	client *http.Client
}

func newIssuer(config Config) *issuer {
	return &issuer{name: config.Issuer, client: &http.Client{
		Transport:     config.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// fetch asks for the metadata and then for the keys. Its errors hold no URL.
func (i *issuer) fetch(ctx context.Context) (keyfunc.Keyfunc, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit) // others wait for it too
	defer cancel()
	keysURL, err := i.discover(ctx)
	if err != nil {
		return nil, err
	}
	var set jwkset.JWKSMarshal
	if err := i.get(ctx, keysURL, &set); err != nil {
		return nil, fmt.Errorf("asking for the issuer's keys: %w", err)
	}
	storage, usable := jwkset.NewMemoryStorage(), 0
	for _, marshal := range set.Keys {
		key, err := jwkset.NewJWKFromMarshal(marshal, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		if err != nil || marshal.KID == "" {
			continue // of a kind that is not known here, or without a name: the others are good all the same
		}
		if err := storage.KeyWrite(ctx, key); err != nil {
			return nil, fmt.Errorf("keeping the issuer's keys: %w", err)
		}
		usable++
	}
	if usable == 0 {
		return nil, errors.New("the issuer has no key that can be used")
	}
	return keyfunc.New(keyfunc.Options{Ctx: context.Background(), Storage: storage, UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}})
}

// discover returns where the issuer's keys are. If no document tells, the error is that of one that was there.
func (i *issuer) discover(ctx context.Context) (string, error) {
	var absent, bad error
	for _, at := range metadataURLs(i.name) {
		var document metadata
		if err := i.get(ctx, at, &document); err != nil {
			absent = cmp.Or(absent, fmt.Errorf("asking for the issuer's metadata: %w", err))
			continue
		}
		err := document.check(i.name)
		if err == nil {
			return document.KeysURL, nil
		}
		bad = cmp.Or(bad, err)
	}
	return "", cmp.Or(bad, absent)
}

// metadata is what is read of an issuer's metadata (RFC 8414 section 2).
type metadata struct {
	Issuer  string `json:"issuer"`
	KeysURL string `json:"jwks_uri"`
}

func (m metadata) check(issuer string) error {
	// RFC 8414 section 3.3: identical, or it must not be used.
	switch {
	case m.Issuer == issuer:
	case strings.TrimSuffix(m.Issuer, "/") == strings.TrimSuffix(issuer, "/"):
		return errors.New("the issuer names itself with another slash at the end; --oauth-issuer must be written exactly as it does")
	default:
		return errors.New("the issuer's metadata names another issuer; --oauth-issuer must be written exactly as the issuer names itself")
	}
	if err := checkKeysURL(m.KeysURL); err != nil {
		return fmt.Errorf("the place of the issuer's keys cannot be trusted: %w", err)
	}
	return nil
}

// checkKeysURL is checkURL but for the query, which a place of keys may have.
func checkKeysURL(s string) error {
	before, _, _ := strings.Cut(s, "?")
	return checkURL(before)
}

// metadataURLs are where an issuer may publish its metadata: RFC 8414 section 3.1 puts the well-known part before the path
// of the issuer, OpenID Connect Discovery section 4 behind it, and some put that of OpenID before it too.
func metadataURLs(issuer string) []string {
	u, _ := url.Parse(issuer) // as Validate did
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	base := u.Scheme + "://" + u.Host
	urls := []string{base + "/.well-known/oauth-authorization-server" + path, base + path + "/.well-known/openid-configuration"}
	if path != "" {
		urls = append(urls, base+"/.well-known/openid-configuration"+path)
	}
	return urls
}

// get reads one JSON document.
func (i *issuer) get(ctx context.Context, at string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return errors.New("its URL cannot be used")
	}
	request.Header.Set("Accept", "application/json")
	response, err := i.client.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL
		}
		return fmt.Errorf("no answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer has status %d", response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("the answer was cut off: %w", err)
	case len(data) > maxDocument:
		return errors.New("the answer is too large")
	case json.Unmarshal(data, into) != nil:
		return errors.New("the answer is not the JSON that it should be")
	}
	return nil
}
