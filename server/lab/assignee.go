package lab

import (
	"encoding/json"
	"net/http"
)

// assignee asks Kitebase who has the ticket.
func (s *scene) assignee(ticket string) string {
	request, err := http.NewRequestWithContext(s.ctx, http.MethodGet, s.kitebase.URL()+"/v1/tickets/"+ticket, nil)
	if err != nil {
		return ""
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil { // only when the lab is being ended
		return ""
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	var found struct {
		Assignee string `json:"assignee"`
	}
	if json.NewDecoder(response.Body).Decode(&found) != nil {
		return ""
	}
	return found.Assignee
}
