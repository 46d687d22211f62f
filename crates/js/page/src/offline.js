// Keeps the files of the page, so that it works offline. It answers for these files only.

const NAME = 'placement-guard-BUILD';
const FILES = ['./', 'index.html', 'page.css', 'page.js', 'theme.js', 'worker.js', 'icon.svg', 'licences.txt'];

addEventListener('install', (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => skipWaiting()));
});

addEventListener('activate', (event) => {
  const gone = async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith('placement-guard-') && name !== NAME);
    await Promise.all(names.map((name) => caches.delete(name)));
    await clients.claim();
  };
  event.waitUntil(gone());
});

addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return;
  event.respondWith(caches.open(NAME).then(async (cache) => (await cache.match(request, { ignoreSearch: true })) ?? fetch(request)));
});
