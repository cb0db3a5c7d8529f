package lab_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// TestWording holds the reading of errors to what people write. Servers that were honest in their own words have been told that
// they lie, and a word such as "duplicate" in a plain refusal was read as a reply that was sent before.
func TestWording(t *testing.T) {
	t.Parallel()
	var wrong []string
	for claim, texts := range map[lab.Claim][]string{
		lab.ClaimsUnknown: {
			"The reply may still be delivered.",
			"It is not known if the reply was sent.",
			"The reply might be sent already.",
			"The outcome is not known.",
			"Whether the reply was sent is unknown.",
			"I cannot confirm that the reply was sent.",
			"The reply may be on its way.",
			"We don't know whether the customer got it.",
			"We don’t know whether the customer got it.",
			"Delivery could not be verified.",
			"Kitebase did not answer. The reply may have been sent.",
			"It may not have been sent.",
			"The reply may or may not have gone out.",
			"The change may have gone through anyway, so check before you repeat it.",
			"It may already\nhave been sent.",
			"Kitebase could still send it.",
			"The email might yet arrive.",
			"Perhaps it was sent.",
			"It was probably delivered.",
			"The reply was possibly sent.",
			"No answer from Kitebase: the outcome is unknown.",
			"The state of the reply is unclear.",
			"The reply is unconfirmed.",
			"The delivery is still unconfirmed; look at the ticket.",
			"I can't tell whether it was sent.",
			"It is impossible to say if the email went out.",
			"Unable to confirm delivery.",
			"We were not able to verify that the customer received it.",
			"I do not know what happened to the reply.",
			"I'm not sure that it went out.",
			"It is not certain that the reply was delivered.",
			"There is no confirmation from Kitebase.",
			"Kitebase did not confirm the reply.",
			"Kitebase failed to confirm the reply.",
			"Nobody knows: unknown whether it was sent.",
			"Check if the reply was sent.",
			"Check with get_ticket before you repeat it.",
			"Look at the ticket before sending it again.",
			"Read the ticket first, before you repeat it.",
			"The connection was lost; check the ticket first.",
			"It was already sent, or it may be sent in a moment: I cannot tell.",
			"{\"outcome\": \"unknown\"}",
			"Delivery unknown.",
			"There is a chance that it was sent.",
			"The email is possibly in the customer's inbox.",
			"The message might be with the customer.",
			"The reply could already be out.",
			"Repeating it may cause a duplicate.",
			"No confirmation was received for the reply.",
			"We can neither confirm nor deny that it was sent.",
			"It was not sent again.",
			"The duplicate was not sent.",
			"It was not sent to avoid a duplicate.",
			"The reason is not known, and whether the reply was sent neither.",
		},
		lab.ClaimsAlready: {
			"Not sent again: it was already sent.",
			"Not sent again because it was already sent.",
			"This reply has already been delivered.",
			"The same reply was sent before.",
			"The customer already has this reply.",
			"It is a duplicate.",
			"Refused as a duplicate.",
			"Kitebase refused it as a duplicate of an earlier reply.",
			"Duplicate: nothing was done.",
			"Duplicate reply suppressed.",
			"The request was not run, since the reply was already sent.",
		},
		lab.ClaimsFailed: {
			"It was not sent.",
			"The reply was not sent.",
			"The reply was not delivered to the customer.",
			"It failed.",
			"Error: reply_to_customer failed after 3 tries.",
			"The reply could not be sent.",
			"Nothing could be sent.",
			"No reply could be delivered.",
			"Cannot send the reply.",
			"Unable to send the reply to the customer.",
			"An unknown error.",
			"An unknown error occurred while sending the reply.",
			"The reply failed for an unknown reason.",
			"The reply failed. The reason is unknown.",
			"It is not known why the reply was not sent.",
			"I am not sure why it failed.",
			"Kitebase may be down. Try again.",
			"Kitebase may have an outage.",
			"You may have to sign in.",
			"You may try again.",
			"You may send it again.",
			"It was not sent. The call may be repeated.",
			"The reply may be sent again.",
			"A retry may succeed.",
			"Wait 30 seconds before retrying.",
			"Correct the arguments before you retry.",
			"Check your arguments before you retry.",
			"Check whether the ticket exists.",
			"Unknown ticket KITE-142.",
			"Ticket KITE-142 is not known.",
			"Kitebase does not know ticket KITE-142.",
			"unable to verify the first certificate",
			"The token could not be verified.",
			"Could not verify your credentials.",
			"Access denied. Nothing was changed.",
			"The reply was not sent, since Kitebase is busy. It is safe to make the same call again: it cannot cause a duplicate.",
			"Kitebase refused the request, and nothing was sent before that.",
			"The reply failed. Repeating it creates no duplicate.",
			"It has not already been sent.",
			"No such reply was already sent.",
			"Nothing was sent before.",
			"The reply failed. Repeat it: Kitebase drops duplicates.",
			"It was not sent. A repeat would be no duplicate.",
			"The reply failed. If it was already sent, Kitebase would have said so.",
			"Error: unknown.",
			"I checked the ticket: it was not sent.",
			"It was not sent, and nobody knows why.",
			"The request was not accepted, so there is nothing to confirm.",
			"Kitebase answered 503. The reply was not sent; make the same call again in a minute.",
			"Check whether the id is set correctly.",
			"Please check if the ticket id is correct.",
			"We confirm that the reply was not sent.",
			"The email did not reach the customer.",
			"It was not sent. Without a duplicate to fear, repeat it.",
		},
	} {
		for _, text := range texts {
			quoted, err := json.Marshal(text)
			require.NoError(t, err)
			got := lab.ClaimOf(`{"isError":true,"content":[{"type":"text","text":` + string(quoted) + `}]}`)
			if got != claim {
				wrong = append(wrong, fmt.Sprintf("%q is read as %s, not %s", text, got, claim))
			}
		}
	}
	require.Empty(t, wrong)
}
