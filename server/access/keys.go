package access

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

const (
	// keysFresh is how long keys are used before they are asked for again, so that a withdrawn one ends.
	keysFresh = time.Hour
	// keysKept is how long keys are used while the issuer does not answer.
	keysKept = 24 * time.Hour
	// fetchEvery is the least time between two fetches, whatever tokens come: anybody can invent a key id.
	fetchEvery = 10 * time.Second
)

// keys are those of the issuer, as last fetched. They are safe for concurrent use.
//
//	key id known, keys fresh     no fetch
//	known, older than an hour    one caller fetches, the others go on with what there is
//	unknown                      one fetch, unless there was one just now
//	none younger than a day      the same
type keys struct {
	*issuer
	log *slog.Logger

	current atomic.Pointer[keySet]

	turn    chan struct{} // holds one value while somebody fetches, or looks at what follows
	next    time.Time     // no fetch before
	failure error         // of the last fetch
}

type keySet struct {
	find    jwt.Keyfunc
	fetched time.Time
}

// noKeysError says that nobody can tell now whether a token is good.
type noKeysError struct{ wait time.Duration }

func (*noKeysError) Error() string { return "the keys of the issuer cannot be had" }

var errUnknownKey = errors.New("unknown key id")

// find returns the key that a token names, whose key id is not empty.
func (k *keys) find(ctx context.Context, token *jwt.Token) (any, error) {
	set := k.current.Load()
	key, err := set.key(token)
	known := !errors.Is(err, jwkset.ErrKeyNotFound)
	if known && time.Since(set.fetched) < keysFresh {
		return key, err
	}
	missing := errUnknownKey
	if !known {
		select {
		case k.turn <- struct{}{}:
			if k.refresh(ctx, set) != nil {
				missing = &noKeysError{time.Until(k.next)}
			}
			<-k.turn
		case <-ctx.Done():
			missing = &noKeysError{fetchEvery} // nobody is left to read it
		}
	} else {
		select {
		case k.turn <- struct{}{}:
			_ = k.refresh(ctx, set) // logged; what there is still holds
			<-k.turn
		default:
		}
	}
	key, err = k.current.Load().key(token)
	if errors.Is(err, jwkset.ErrKeyNotFound) {
		return nil, missing
	}
	return key, err
}

// key returns the key that a token names, or jwkset.ErrKeyNotFound.
func (s *keySet) key(token *jwt.Token) (any, error) {
	if s == nil || time.Since(s.fetched) >= keysKept {
		return nil, jwkset.ErrKeyNotFound
	}
	return s.find(token)
}

// refresh needs the turn. It fetches, unless there was a fetch just now or somebody else has done it since the caller
// looked at old, and returns why there are no newer keys.
func (k *keys) refresh(ctx context.Context, old *keySet) error {
	if k.current.Load() != old || time.Now().Before(k.next) {
		return k.failure
	}
	var found keyfunc.Keyfunc
	found, k.failure = k.fetch(ctx)
	k.next = time.Now().Add(fetchEvery)
	if k.failure != nil {
		k.log.Error("the keys of the issuer cannot be had", "cause", k.failure)
		return k.failure
	}
	k.current.Store(&keySet{find: found.Keyfunc, fetched: time.Now()})
	k.log.Debug("keys of the issuer fetched")
	return nil
}
