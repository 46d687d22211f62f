// A headless Chromium, spoken to through a pipe in its own protocol.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const QUIET = ['--no-first-run', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--hide-scrollbars'];

// Longer than any answer takes, also on a busy machine.
const LONGEST = 60_000;

export class Chromium {
  #calls = new Map();
  #next = 1;
  #listeners = [];

  static async start() {
    const program = NAMES.flatMap((name) => process.env.PATH.split(delimiter).map((folder) => join(folder, name))).find((file) => existsSync(file));
    assert.ok(program, `no browser of ${NAMES} is installed`);
    const profile = mkdtempSync(join(tmpdir(), 'placement-guard-page-'));
    const args = ['--headless', '--no-sandbox', '--remote-debugging-pipe', `--user-data-dir=${profile}`, ...QUIET, 'about:blank'];
    const process_ = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
    const browser = new Chromium();
    Object.assign(browser, { process: process_, profile, said: '' });
    process_.stderr.on('data', (data) => (browser.said += data));
    let rest = Buffer.alloc(0);
    process_.stdio[4].on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        browser.#take(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
      }
    });
    process_.once('exit', () => {
      for (const { reject } of browser.#calls.values()) reject(new Error(`the browser ended\n${browser.said}`));
    });
    return browser;
  }

  #take(message) {
    const call = this.#calls.get(message.id);
    if (call) {
      this.#calls.delete(message.id);
      clearTimeout(call.timer);
      if (message.error) call.reject(new Error(`${call.method}: ${message.error.message}`));
      else call.resolve(message.result);
    } else for (const listener of this.#listeners) listener(message);
  }

  call(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} is not answered\n${this.said}`)), LONGEST);
      this.#calls.set(id, { resolve, reject, timer, method });
      this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** A page in a profile of its own. */
  async page({ width = 1280, height = 900, phone = false, dark = false } = {}) {
    const { browserContextId } = await this.call('Target.createBrowserContext');
    const { targetId } = await this.call('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await this.call('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, { targetId, browserContextId });
    this.#listeners.push((message) => message.sessionId === sessionId && page.hear(message));
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await page.call(`${domain}.enable`);
    await page.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: phone });
    await page.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
    // Before the page's own scripts, so that no violation is missed.
    const listen = "window.violations = []; addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => violations.push(violatedDirective + ' ' + blockedURI));";
    await page.call('Page.addScriptToEvaluateOnNewDocument', { source: listen });
    return page;
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    const killed = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    await this.call('Browser.close').catch(() => {});
    await ended;
    clearTimeout(killed);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  /** What the page complained of: errors, and whatever it logged. */
  complaints = [];
  /** The addresses that it asked for. */
  asked = [];
  #loaded = [];

  constructor(browser, sessionId, ids) {
    Object.assign(this, { browser, sessionId, ids });
  }

  call(method, params) {
    return this.browser.call(method, params, this.sessionId);
  }

  hear({ method, params }) {
    if (method === 'Page.loadEventFired') for (const resolve of this.#loaded.splice(0)) resolve();
    if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled') this.complaints.push(params.args.map(({ value, description }) => value ?? description).join(' '));
    if (method === 'Log.entryAdded') this.complaints.push(params.entry.text);
    if (method === 'Network.requestWillBeSent') this.asked.push(params.request.url);
  }

  /** Opens an address; without `waits`, a document that is not the page. */
  async open(address, { waits = true } = {}) {
    const loaded = new Promise((resolve) => this.#loaded.push(resolve));
    await this.call('Page.navigate', { url: 'about:blank' });
    await loaded;
    const again = new Promise((resolve) => this.#loaded.push(resolve));
    const { errorText } = await this.call('Page.navigate', { url: address });
    if (errorText) throw new Error(`${address}: ${errorText}`);
    await again;
    if (waits) await this.until(() => document.documentElement.dataset.ready === 'true');
  }

  /** What a function gives in the page; its arguments and what it gives pass as JSON. */
  async run(code, ...args) {
    const expression = `(${code})(${args.map((argument) => JSON.stringify(argument)).join(',')})`;
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async until(code, ...args) {
    for (const end = Date.now() + LONGEST; Date.now() < end; ) {
      if (await this.run(code, ...args)) return;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    assert.fail(`never came true: ${code}`);
  }

  /** Runs a script as the tools of a developer do, which the page's policy does not concern. */
  inject(source) {
    return this.call('Runtime.evaluate', { expression: source });
  }

  async key(key, { code = key, text, modifiers = 0 } = {}) {
    const number = { Tab: 9, Enter: 13, Escape: 27, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key];
    const of = { key, code, modifiers, windowsVirtualKeyCode: number, nativeVirtualKeyCode: number };
    await this.call('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', text, ...of });
    await this.call('Input.dispatchKeyEvent', { type: 'keyUp', ...of });
  }

  type(text) {
    return this.call('Input.insertText', { text });
  }

  async picture({ whole = true } = {}) {
    const { data } = await this.call('Page.captureScreenshot', { format: 'png', captureBeyondViewport: whole });
    return Buffer.from(data, 'base64');
  }

  close() {
    return this.browser.call('Target.disposeBrowserContext', { browserContextId: this.ids.browserContextId });
  }
}
