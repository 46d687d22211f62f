// What the tabs have in common: documents with an editor each, samples, and when the answer is made again.

import { h } from './dom.js';
import { Editor } from './editor.js';

export class Tab {
  constructor(panel, documents) {
    this.panel = panel;
    this.documents = Object.fromEntries(Object.keys(documents).map((name) => [name, '']));
    this.editors = {};
    this.touched = () => {};
    for (const [name, options] of Object.entries(documents)) {
      const pane = panel.querySelector(`[data-document="${name}"]`);
      const changed = (text) => this.took(name, text);
      this.editors[name] = new Editor(pane, { ...options, changed });
    }
  }

  took(name, text) {
    this.documents[name] = text;
    this.sample = undefined;
    this.showSample();
    this.changed(name);
    this.touched();
  }

  /** Writes one document, as a person would. */
  write(name, text) {
    this.editors[name].text = text;
    this.took(name, text);
  }

  /** Offers samples, each one click. */
  offer(samples) {
    this.samples = samples;
    const buttons = samples.map((sample) => h('button', { type: 'button', 'aria-pressed': 'false', click: () => this.choose(sample) }, sample.name));
    this.panel.querySelector('.samples').append(h('span', { class: 'lead', 'aria-hidden': 'true' }, 'Samples'), ...buttons);
    this.buttons = buttons;
  }

  choose(sample) {
    this.set(typeof sample.documents === 'function' ? sample.documents() : sample.documents);
    this.sample = sample;
    this.showSample();
    this.touched();
  }

  showSample() {
    this.buttons?.forEach((button, at) => button.setAttribute('aria-pressed', String(this.samples[at] === this.sample)));
  }

  /** Sets all documents, and answers. */
  set(documents) {
    this.sample = undefined;
    for (const name of Object.keys(this.documents)) {
      this.documents[name] = documents[name] ?? '';
      this.editors[name].text = this.documents[name];
    }
    this.showSample();
    this.changed();
  }

  /** Answers again after a document changed, or all of them. */
  changed() {
    this.update();
  }

  /** Shows what is wrong, by document. */
  show(problems) {
    for (const [name, of] of Object.entries(problems)) this.editors[name].show(of);
  }

  /** Marks what differs between the documents `before` and `after`. */
  compare() {
    const { before, after } = this.documents;
    this.editors.before.compare(after, 'before');
    this.editors.after.compare(before, 'after');
  }

  /** Does something that takes longer once typing pauses. */
  later(work) {
    clearTimeout(this.timer);
    this.timer = setTimeout(work, 150);
  }
}
