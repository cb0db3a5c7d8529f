package access

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// leeway is how far the clocks of issuer and server may be apart.
	leeway = 30 * time.Second
	// maxJWT is the most bytes of a JWT.
	maxJWT = 16 << 10
	// maxKeyID is the most bytes of a key id.
	maxKeyID = 256
)

// algorithms are those of RFC 7518 and RFC 8037 whose verifying key may be public. Any other could be met by whoever knows it.
func algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// types are what the typ of an access token may be: RFC 9068, and what issuers write who do not follow it. It keeps out what
// the same issuer signs for other ends, such as logout tokens.
func types() []string { return []string{"", "jwt", "at+jwt", "application/at+jwt"} }

// What golang-jwt does not look at.
var (
	errTooLong  = errors.New("too long")
	errKeyID    = errors.New("no key id")
	errType     = errors.New("not an access token by its typ")
	errCritical = errors.New("crit names what is not understood")
	errTime     = errors.New("exp, nbf or iat is no number")
	errNobody   = errors.New("neither sub nor client_id")
)

// A verifier checks JWTs. It is safe for concurrent use.
type verifier struct {
	parser *jwt.Parser
	claims *jwt.Validator
	keys   *keys
	tools  []Tool
}

func newVerifier(config Config) *verifier {
	rules := []jwt.ParserOption{
		jwt.WithValidMethods(algorithms()), jwt.WithStrictDecoding(),
		jwt.WithIssuer(config.Issuer), jwt.WithAudience(config.Audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway),
	}
	return &verifier{
		parser: jwt.NewParser(rules...), claims: jwt.NewValidator(rules...), tools: config.Tools,
		keys: &keys{issuer: newIssuer(config), log: config.Logger, turn: make(chan struct{}, 1)},
	}
}

// claims are what is read of a JWT.
type claims struct {
	jwt.RegisteredClaims
	ClientID string `json:"client_id"` // RFC 9068
	Party    string `json:"azp"`       // OpenID Connect, which some issuers write instead
	Scope    scopes `json:"scope"`     // RFC 8693
	Scp      scopes `json:"scp"`       // some issuers
}

// UnmarshalJSON takes times as numbers only (RFC 7519 section 2, NumericDate); the library takes strings too.
func (c *claims) UnmarshalJSON(data []byte) error {
	var times struct {
		Expires json.RawMessage `json:"exp"`
		Before  json.RawMessage `json:"nbf"`
		Issued  json.RawMessage `json:"iat"`
	}
	if err := json.Unmarshal(data, &times); err != nil {
		return err
	}
	for _, value := range []json.RawMessage{times.Expires, times.Before, times.Issued} {
		if len(value) > 0 && value[0] == '"' {
			return errTime
		}
	}
	type plain claims // without this method
	return json.Unmarshal(data, (*plain)(c))
}

// who returns the name of the caller and the claim that it came from. One that is not named by sub is a client by itself, and
// not the person whose sub happens to be the same.
func (c *claims) who() (claim, name string) {
	switch {
	case c.Subject != "":
		return "sub", c.Subject
	case c.ClientID != "":
		return "client_id", c.ClientID
	default:
		return "azp", c.Party
	}
}

// scopes are a string with spaces, or an array.
type scopes []string

// UnmarshalJSON takes both forms.
func (s *scopes) UnmarshalJSON(data []byte) error {
	var one string
	if err := json.Unmarshal(data, &one); err == nil {
		*s = strings.Fields(one)
		return nil
	}
	return json.Unmarshal(data, (*[]string)(s))
}

// verify returns the caller with this JWT, or why it is not good; a [noKeysError] if nobody can say.
func (v *verifier) verify(ctx context.Context, token string) (Caller, error) {
	if len(token) > maxJWT {
		return Caller{}, errTooLong
	}
	var c claims
	_, err := v.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) { return v.key(ctx, t, c) })
	if err != nil {
		return Caller{}, err
	}
	claim, name := c.who()
	if name == "" {
		return Caller{}, errNobody
	}
	caller := Caller{Name: printable(name), Way: "oauth", key: keyOf("JWT "+claim, name), expires: c.ExpiresAt.Add(leeway)}
	caller.rights, caller.scopes = ofScopes(slices.Concat(c.Scope, c.Scp), v.tools)
	return caller, nil
}

// key returns the key by which a token is to be checked. It looks at all else first: what cannot be good anyway costs no
// fetch, and is refused for good even while keys cannot be had.
func (v *verifier) key(ctx context.Context, token *jwt.Token, c claims) (any, error) {
	if err := v.claims.Validate(&c); err != nil {
		return nil, err
	}
	kid, _ := token.Header["kid"].(string)
	typ, isText := token.Header["typ"].(string)
	_, critical := token.Header["crit"]
	switch {
	case kid == "" || len(kid) > maxKeyID:
		return nil, errKeyID
	case token.Header["typ"] != nil && !isText, !slices.Contains(types(), strings.ToLower(typ)):
		return nil, errType
	case critical: // RFC 7515 section 4.1.11
		return nil, errCritical
	}
	return v.keys.find(ctx, token)
}

// reasonOf says in a few words why a token is not good. It repeats nothing of the token.
func reasonOf(err error) string {
	for _, known := range []error{
		errTooLong, errKeyID, errType, errCritical, errTime, errNobody, errUnknownKey,
		jwt.ErrTokenExpired, jwt.ErrTokenNotValidYet, jwt.ErrTokenUsedBeforeIssued, jwt.ErrTokenInvalidIssuer,
		jwt.ErrTokenInvalidAudience, jwt.ErrTokenRequiredClaimMissing, jwt.ErrTokenSignatureInvalid, jwt.ErrTokenMalformed,
	} {
		if errors.Is(err, known) {
			return strings.TrimPrefix(known.Error(), "token ")
		}
	}
	return "it cannot be checked"
}
