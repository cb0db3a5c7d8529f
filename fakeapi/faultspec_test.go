package fakeapi_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

func TestParseFault(t *testing.T) {
	for spec, want := range map[string]struct {
		operation string
		fault     fakeapi.Fault
	}{
		"reply_to_customer=lose:1":                  {"reply_to_customer", fakeapi.Fault{Kind: "lose", Times: 1}},
		"get_ticket=hang":                           {"get_ticket", fakeapi.Fault{Kind: "hang"}},
		"search_help=status=503:2":                  {"search_help", fakeapi.Fault{Kind: "status", Status: 503, Times: 2}},
		"search_help=status=429,retry-after=30:2":   {"search_help", fakeapi.Fault{Kind: "status", Status: 429, RetryAfter: "30", Times: 2}},
		"*=slow=450ms":                              {"*", fakeapi.Fault{Kind: "slow", Delay: 450 * time.Millisecond}},
		"get_ticket=redirect=307":                   {"get_ticket", fakeapi.Fault{Kind: "redirect", Status: 307}},
		"get_ticket=drop,probability=0.3,seed=7":    {"get_ticket", fakeapi.Fault{Kind: "drop", Probability: 0.3, Seed: 7}},
		"search_tickets=stall,seed=1,probability=1": {"search_tickets", fakeapi.Fault{Kind: "stall", Probability: 1, Seed: 1}},
	} {
		t.Run(spec, func(t *testing.T) {
			operation, fault, err := fakeapi.ParseFault(spec)
			require.NoError(t, err)
			require.Equal(t, want.operation, operation)
			require.Equal(t, want.fault, fault)
		})
	}
}

func TestParseFaultSaysWhatIsWrong(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                "write it as operation=kind",
		"lose":                            "write it as operation=kind",
		"reply=lose":                      `operation "reply" is unknown; it is one of search_help, get_ticket, search_tickets, assign_ticket, reply_to_customer, or * for all`,
		"get_ticket=explode":              `fault "explode" is unknown; it is one of drop, status,`,
		"get_ticket=explode=1":            `explode takes no value, and here it has "1"`,
		"get_ticket=lose:0":               `times is "0"`,
		"get_ticket=lose:many":            `times is "many"`,
		"get_ticket=status":               "status is 0; it takes a status between 200 and 599",
		"get_ticket=status=teapot":        `status is "teapot"`,
		"get_ticket=status=99":            "status is 99",
		"get_ticket=redirect=200":         "status of a redirect is 200",
		"get_ticket=slow":                 "slow needs a delay",
		"get_ticket=slow=soon":            `delay is "soon"`,
		"get_ticket=drop,often=1":         `option "often" is unknown; it is one of retry-after, probability, seed`,
		"get_ticket=drop,probability=2":   "probability is 2; it takes a number between 0 and 1",
		"get_ticket=drop,probability=NaN": "probability is NaN",
		"get_ticket=drop,seed=-1":         `seed is "-1"`,
		"get_ticket=drop,retry-after=3":   "drop takes no retry-after",
	} {
		t.Run(spec, func(t *testing.T) {
			_, _, err := fakeapi.ParseFault(spec)
			require.ErrorContains(t, err, want)
		})
	}
}

// Whatever ParseFault takes, SetFault takes too, and it survives its own JSON.
func FuzzParseFault(f *testing.F) {
	for _, spec := range []string{"*=slow=450ms:3", "get_ticket=status=503,retry-after=30:2", "get_ticket=drop,probability=0.3,seed=7", "=:", "get_ticket=slow=1h,,"} {
		f.Add(spec)
	}
	fake, err := fakeapi.New(fakeapi.Config{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, spec string) {
		operation, fault, err := fakeapi.ParseFault(spec)
		if err != nil {
			return
		}
		require.NoError(t, fake.SetFault(operation, fault))
		data, err := json.Marshal(fault)
		require.NoError(t, err)
		var again fakeapi.Fault
		require.NoError(t, json.Unmarshal(data, &again))
		require.NoError(t, fake.SetFault(operation, again))
	})
}
