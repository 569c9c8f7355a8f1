package feed

import "beckon/render"

// Payloads returns a value of the data of each event, by name.
func Payloads() map[string]any {
	return map[string]any{
		"snapshot":        listWithOffers{},
		"gap":             gap{},
		"session_created": news{},
		"session_updated": news{},
		"session_ended":   news{},
		"turn_created":    render.TurnLine{},
		"notification":    notice{},
		"offer_created":   offerNews{},
		"offer_ended":     offerEnd{},
		"away":            awayNews{},
	}
}

// gap is the data of gap: events are missing, and a snapshot follows.
type gap struct {
	Reason string `json:"reason"`
}
