// Package accesstest is an issuer of JWTs for tests: an OAuth 2.1 authorization server as far as a resource server sees it,
// which is its metadata (RFC 8414), its keys (RFC 7517), and what it signs.
//
//	issuer := accesstest.NewIssuer()
//	server := httptest.NewServer(issuer)
//	issuer.Name = server.URL
//	token := issuer.Sign("ES256", issuer.Claims("https://desk.example.com/mcp", "kitebase:read"))
//
// It lets nobody log in and hands out no tokens by itself: tests sign what they need, good or bad.
package accesstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

// An Issuer signs by RS256, ES256 and EdDSA. Its methods are safe for concurrent use; its fields are to be set before.
type Issuer struct {
	// Name is its URL, as it names itself. Default https://login.example.com.
	Name string
	// OpenID lets it publish its metadata as OpenID Connect says only. Default false: as RFC 8414 says only.
	OpenID bool

	mu         sync.Mutex
	generation int // of its keys
	keys       map[string]crypto.Signer
	status     int // of all answers, when not 0
	fetches    int // of its keys
	requests   int
}

// NewIssuer returns an issuer with keys.
func NewIssuer() *Issuer {
	i := &Issuer{Name: "https://login.example.com"}
	i.Rotate()
	return i
}

// Rotate replaces all keys; the new ones have other ids.
func (i *Issuer) Rotate() {
	signer := func(key crypto.Signer, err error) crypto.Signer {
		if err != nil {
			panic(fmt.Sprintf("making a key: %v", err)) // the randomness of the system is broken
		}
		return key
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	ecKey, ecErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, edKey, edErr := ed25519.GenerateKey(rand.Reader)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.generation++
	i.keys = map[string]crypto.Signer{
		"RS256": signer(rsaKey, err), "ES256": signer(ecKey, ecErr), "EdDSA": signer(edKey, edErr),
	}
}

// Fail lets all answers have a status, until it is 0.
func (i *Issuer) Fail(status int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.status = status
}

// Fetches returns how often the keys were asked for.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// Requests returns how many requests came, answered or not.
func (i *Issuer) Requests() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests
}

// Claims are those of a good token for the subject "priya", for five minutes.
func (i *Issuer) Claims(audience, scope string) jwt.MapClaims {
	now := time.Now()
	return jwt.MapClaims{
		"iss": i.Name, "aud": audience, "sub": "priya", "client_id": "desk-client", "scope": scope,
		"iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	}
}

// Sign returns a token with these claims, signed by its key for alg.
func (i *Issuer) Sign(alg string, claims jwt.MapClaims) string {
	return i.SignAs(alg, claims, nil)
}

// SignAs is Sign with other fields of the header; one that is nil is left out.
func (i *Issuer) SignAs(alg string, claims jwt.MapClaims, header map[string]any) string {
	token := jwt.NewWithClaims(jwt.GetSigningMethod(alg), claims)
	token.Header["kid"] = i.KeyID(alg)
	for field, value := range header {
		if token.Header[field] = value; value == nil {
			delete(token.Header, field)
		}
	}
	i.mu.Lock()
	key := i.keys[alg]
	i.mu.Unlock()
	signed, err := token.SignedString(key)
	if err != nil {
		panic(fmt.Sprintf("signing by %s: %v", alg, err)) // only for an alg that it does not have
	}
	return signed
}

// KeyID returns the id of its key for alg.
func (i *Issuer) KeyID(alg string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return fmt.Sprintf("%s-%d", alg, i.generation)
}

// Public returns its public key for alg.
func (i *Issuer) Public(alg string) crypto.PublicKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[alg].Public()
}

// ServeHTTP serves its metadata and its keys.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.requests++
	_, rest, _ := strings.Cut(i.Name, "://")
	_, path, hasPath := strings.Cut(rest, "/")
	if hasPath {
		path = "/" + path
	}
	metadata := "/.well-known/oauth-authorization-server" + path
	if i.OpenID {
		metadata = path + "/.well-known/openid-configuration"
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case i.status != 0:
		w.WriteHeader(i.status)
	case r.URL.Path == metadata:
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.Name, "jwks_uri": i.Name + "/keys"})
	case r.URL.Path == path+"/keys":
		i.fetches++
		_ = json.NewEncoder(w).Encode(i.set())
	default:
		http.NotFound(w, r)
	}
}

func (i *Issuer) set() jwkset.JWKSMarshal {
	var set jwkset.JWKSMarshal
	for alg, key := range i.keys {
		jwk, err := jwkset.NewJWKFromKey(key.Public(), jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{
			ALG: jwkset.ALG(alg), KID: fmt.Sprintf("%s-%d", alg, i.generation), USE: jwkset.UseSig,
		}})
		if err != nil {
			panic(fmt.Sprintf("writing a key: %v", err)) // they are of known kinds
		}
		set.Keys = append(set.Keys, jwk.Marshal())
	}
	return set
}

// RoundTrip answers without a network, for tests in a synctest bubble.
func (i *Issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	i.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}
