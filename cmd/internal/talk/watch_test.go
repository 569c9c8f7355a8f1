package talk

import (
	"beckon/state/request"
	"context"
	"os"
	"testing"
	"time"

	"beckon/render/card"
)

// A screen creates nothing from which hooks would conclude that calls are held, and shows the
// first request there ever is.
func TestFollowFirstRequest(t *testing.T) {
	d := machine(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	followRequests(ctx, d.a.Store.Dir, func([]card.Request) { t.Error("there is none") })
	if _, err := os.Stat(request.In(d.a.Store.Dir).OpenDir()); err == nil {
		t.Error("there is a directory of requests, and was no request")
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	shown := make(chan []card.Request, 1)
	go followRequests(ctx, d.a.Store.Dir, func(list []card.Request) { shown <- list })
	o := d.ask(t, "Bash", `{"tool_name":"Bash","tool_input":{"command":"make"}}`)
	select {
	case list := <-shown:
		if len(list) != 1 || list[0].ID != o.ID {
			t.Errorf("it shows %+v", list)
		}
	case <-time.After(20 * time.Second):
		t.Error("it shows nothing")
	}
}
