package feed

import (
	"context"
	"os"
	"testing"
	"time"

	"beckon/state/live"
	"beckon/state/offer/hold"
	"beckon/state/store"
)

// A server creates nothing from which hooks would conclude that calls are held.
func TestNoOfferNoDirectory(t *testing.T) {
	o := Options{Store: store.Open(t.TempDir()), Log: func(err error) { t.Error(err) }, Timing: Timing{}.OrDefault(), Meter: noMeter{}}
	o.Wakes = &live.Wakes{Log: o.Log}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	New(o).followOffers(ctx)
	if _, err := os.Stat(hold.OpenDir(o.Store.Dir)); err == nil {
		t.Error("there is a directory of offers, and was no offer")
	}
}
