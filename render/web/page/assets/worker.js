// Shows notifications where a page itself may not: on phones. It keeps nothing, and
// answers for no address.
self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  const path = e.notification.data;
  e.waitUntil((async () => {
    const [page] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    if (!page) return self.clients.openWindow(path);
    page.postMessage({ open: path });
    return page.focus();
  })());
});
