// A browser opens six connections to one server, for all its tabs, and each
// page holds one: with six open, nothing more would load. Pages in tabs that
// nobody looks at let go of theirs, but for the newest, which call for all.

const behind = 2; // hidden pages that keep their line

// share tells the other tabs of this one. rest is called when this one should
// let go, wake when it may come back. It returns a function that tells whether
// it rests.
export function share({ rest, wake }) {
  const me = Math.random().toString(36).slice(2);
  const channel = new BroadcastChannel("beckon.tabs");
  const newer = new Set(); // tabs that were looked at, or opened, since this one was
  let resting = false;

  const settle = () => {
    const should = document.hidden && newer.size >= behind;
    if (should === resting) return;
    resting = should;
    if (should) rest();
    else wake();
  };
  const come = () => {
    channel.postMessage({ come: me });
    settle();
  };
  channel.onmessage = ({ data }) => {
    if (data.come) newer.add(data.come);
    else newer.delete(data.go);
    settle();
  };
  document.addEventListener("visibilitychange", () => {
    newer.clear(); // until now this one was looked at
    if (!document.hidden) come();
  });
  window.addEventListener("pagehide", () => channel.postMessage({ go: me }));
  window.addEventListener("pageshow", (e) => { if (e.persisted) newer.clear(), come(); });
  come();
  return () => resting;
}
