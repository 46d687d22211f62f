// Writes docs/screenshots: each tab in light and dark, and on a phone, and what the README shows. They are looked at, and not compared by byte.

import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { serve } from '../serve.mjs';
import { Chromium } from './chromium.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = process.argv[2] ?? here('../../../../docs/screenshots');
mkdirSync(folder, { recursive: true });

const { server, address } = await serve(here('../../../../target/page'));
const browser = await Chromium.start();
try {
  for (const [theme, options] of Object.entries({ light: {}, dark: { dark: true }, phone: { width: 375, height: 812, phone: true } })) {
    const page = await browser.page(options);
    await page.open(address);
    for (const tab of ['volumes', 'tolerations', 'drivers', 'requests']) {
      await page.run((tab) => document.getElementById(`tab-${tab}`).click(), tab);
      await page.until((tab) => document.querySelector(`#${tab} .answer .badge`), tab);
      if (tab === 'volumes') await page.until(() => document.querySelectorAll('.accepting[aria-busy="false"] .choice').length > 2 && document.querySelector('.zone'));
      await page.run(() => document.fonts.ready.then(() => scrollTo(0, 0)));
      writeFileSync(`${folder}/${tab}-${theme}.png`, await page.picture());
    }
    await page.close();
  }
  const page = await browser.page({ height: 1060 });
  await page.open(address);
  await page.until(() => document.querySelector('#volumes .zone'));
  writeFileSync(`${folder}/front.png`, await page.picture({ whole: false }));
  await page.run(() => [...document.querySelectorAll('#volumes .samples button')].at(-1).click());
  await page.until(() => document.querySelector('.squares') && document.querySelector('#volumes .accepting[aria-busy="false"] .choice'));
  writeFileSync(`${folder}/volumes-5000-nodes.png`, await page.picture());
} finally {
  await browser.stop();
  server.closeAllConnections();
  server.close();
}
