// Starts the page: tabs, the theme, links, and the copy for offline use.

import { Drivers } from './drivers.js';
import { read, written } from './permalink.js';
import { Requests } from './requests.js';
import { samples } from './samples.js';
import { Tolerations } from './tolerations.js';
import { Volumes } from './volumes.js';

const KINDS = { volumes: Volumes, tolerations: Tolerations, drivers: Drivers, requests: Requests };
const NAMES = Object.keys(KINDS);
const tabs = {};
let active = 'volumes';
let pending;
let own = '';

const button = (name) => document.getElementById(`tab-${name}`);

// A tab is made when it is first shown: editors cost time.
function tab(name) {
  if (!tabs[name]) {
    tabs[name] = new KINDS[name](document.getElementById(name));
    tabs[name].offer(samples[name]);
    tabs[name].touched = () => {
      clearTimeout(pending);
      pending = setTimeout(write, 400);
    };
  }
  return tabs[name];
}

function activate(name) {
  active = name;
  for (const other of NAMES) {
    button(other).setAttribute('aria-selected', String(other === name));
    button(other).tabIndex = other === name ? 0 : -1;
    document.getElementById(other).hidden = other !== name;
  }
}

function open(name) {
  activate(name);
  const isNew = !tabs[name];
  tab(name);
  if (isNew) tabs[name].choose(samples[name][0]);
  else tabs[name].touched();
}

async function write() {
  clearTimeout(pending);
  // A tab that shows its first sample is as it is without a link.
  const documents = Object.fromEntries(NAMES.filter((name) => tabs[name] && tabs[name].sample !== samples[name][0]).map((name) => [name, tabs[name].documents]));
  own = await written({ tab: active, documents });
  history.replaceState(null, '', own);
}

async function restore() {
  const state = await read(location.hash);
  const name = NAMES.includes(state?.tab) ? state.tab : 'volumes';
  for (const other of NAMES) {
    const documents = state?.documents?.[other];
    if (documents !== null && typeof documents === 'object') {
      activate(other);
      tab(other).set(Object.fromEntries(Object.entries(documents).map(([key, text]) => [key, String(text)])));
    }
  }
  if (state?.documents?.[name]) activate(name);
  else open(name);
  document.documentElement.dataset.ready = 'true';
}

for (const name of NAMES) {
  button(name).addEventListener('click', () => open(name));
  button(name).addEventListener('keydown', (event) => {
    const at = NAMES.indexOf(name);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: NAMES.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const other = NAMES[(next + NAMES.length) % NAMES.length];
    open(other);
    button(other).focus();
  });
}

const announce = (text) => {
  document.getElementById('said').textContent = text;
};

document.getElementById('link').addEventListener('click', async ({ currentTarget }) => {
  await write();
  try {
    await navigator.clipboard.writeText(location.href);
    currentTarget.textContent = 'Copied';
    announce('The link is copied.');
  } catch {
    announce('The link is the address of this page.');
    currentTarget.textContent = 'See the address';
  }
  setTimeout(() => (currentTarget.textContent = 'Copy link'), 2000);
});

const theme = document.getElementById('theme');
const system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
const showTheme = () => theme.setAttribute('aria-pressed', String(isDark()));
theme.addEventListener('click', () => {
  const chosen = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem('theme', chosen);
  } catch {
    // It is then chosen for this visit only.
  }
  showTheme();
});
system.addEventListener('change', showTheme);
showTheme();

addEventListener('hashchange', () => {
  if (location.hash !== own) restore();
});

if ('serviceWorker' in navigator && isSecureContext) navigator.serviceWorker.register('offline.js');
restore();
