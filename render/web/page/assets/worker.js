// Shows notifications where a page itself may not (on phones), and by Web Push where none is open:
// there one notification stands for all that is. It keeps nothing, and answers for no address.
const tag = "beckon";
const labels = { allow: "Allow", deny: "Deny" };

let last = Promise.resolve(); // one at a time: Chromium forgets one that is asked for while it comes
self.addEventListener("push", (e) => e.waitUntil(last = last.then(() => show(e.data.json())).catch(() => {})));

async function show({ notices, more = 0, news = false }) {
  const shown = await self.registration.getNotifications({ tag }), n = notices.length + more, [one] = notices;
  if (!n) return shown.forEach((note) => note.close()); // all was answered elsewhere
  if (!news && !shown.length) return; // somebody has put it away
  const words = n === 1 && one.words || [];
  await self.registration.showNotification(n === 1 ? one.title : `${n} sessions need you`, {
    body: n === 1 ? one.body : notices.map((o) => o.title).join("\n"),
    tag, renotify: news, silent: !news, icon: "/assets/icon.svg",
    actions: words.map((word) => ({ action: word, title: labels[word] })),
    data: n === 1 ? one : { path: "/" },
  });
}

self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  e.waitUntil(open(e.notification.data, e.action));
});

// open answers by a page that is signed in, else opens what was asked.
async function open(data, word) {
  const path = data.path ?? data;
  const [page] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (word && page && await answered(page, { ...data, word })) return;
  if (!page) return self.clients.openWindow(path);
  page.postMessage({ open: path });
  return page.focus();
}

const patience = 3000; // ms, for a page that may sleep

function answered(page, answer) {
  const { port1, port2 } = new MessageChannel();
  page.postMessage({ answer }, [port2]);
  return new Promise((done) => {
    port1.onmessage = (e) => done(e.data);
    setTimeout(done, patience, false);
  });
}
