package feed

import (
	"context"
	"os"
	"testing"

	"beckon/render/web/meter"
	"beckon/state/offer/hold"
	"beckon/state/store"
)

// A server creates nothing from which hooks would conclude that calls are held.
func TestNoOfferNoDirectory(t *testing.T) {
	o := Options{Store: store.Open(t.TempDir()), Log: func(err error) { t.Error(err) }, Timing: Timing{}.OrDefault()}
	ctx, cancel := context.WithCancel(t.Context())
	(&openOffers{o: &o, hub: newHub(meter.New())}).run(ctx, func(...string) (<-chan struct{}, func()) { cancel(); return nil, func() {} })
	if _, err := os.Stat(hold.OpenDir(o.Store.Dir)); err == nil {
		t.Error("there is a directory of offers, and was no offer")
	}
}
