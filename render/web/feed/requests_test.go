package feed

import (
	"beckon/state/request"
	"context"
	"os"
	"testing"
	"time"

	"beckon/state/store"
)

// A server creates nothing from which hooks would conclude that calls are held.
func TestNoOfferNoDirectory(t *testing.T) {
	o := Options{Store: store.Open(t.TempDir()), Meter: NewMeter(), Timing: Timing{}.OrDefault()}
	o.Log = func(err error) { t.Error(err) }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	New(o).followRequests(ctx)
	if _, err := os.Stat(request.In(o.Store.Dir).OpenDir()); err == nil {
		t.Error("there is a directory of offers, and was no offer")
	}
}
