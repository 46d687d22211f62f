// A CodeMirror editor for YAML. Each is in a shadow root: there CodeMirror adopts its style sheets, and the page needs no
// inline styles, which its Content-Security-Policy forbids.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';

import { h } from './dom.js';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--string)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--faint)' },
  { tag: [tags.keyword, tags.meta], color: 'var(--accent)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--field)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-line.before': { backgroundColor: 'var(--loses-soft)' },
  '.cm-line.after': { backgroundColor: 'var(--gains-soft)' },
  '.cm-gutters': { backgroundColor: 'var(--field)', color: 'var(--faint)', border: 'none' },
  '&.cm-focused .cm-activeLine': { boxShadow: 'inset 0 0 0 1px var(--border)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selected)' },
  '.cm-placeholder': { color: 'var(--faint)' },
  '.cm-tooltip': { backgroundColor: 'var(--card)', color: 'var(--text)', border: '1px solid var(--border)', borderRadius: '6px', maxWidth: '340px' },
  '.cm-tooltip.cm-completionInfo': { padding: '8px 10px', fontFamily: 'var(--sans)', whiteSpace: 'pre-line' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-solid)', color: '#fff' },
  // CodeMirror's own marks are pictures inside its styles, which the policy of the page forbids.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--loses) 1px' },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--loses)' },
  '.cm-lint-marker-error': { content: 'normal', width: '9px', height: '9px', margin: '5px 2px', borderRadius: '50%', backgroundColor: 'var(--loses)' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', padding: '6px 10px' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--loses)' },
  '.cm-panels': { backgroundColor: 'var(--card)', color: 'var(--text)' },
});

// Lines that differ from another document.
const mark = StateEffect.define();
const marked = StateField.define({
  create: () => Decoration.none,
  update(lines, transaction) {
    const effect = transaction.effects.find((one) => one.is(mark));
    return effect ? effect.value : lines.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class Editor {
  /** Puts an editor into a pane. `changed` is called with the text after each change. */
  constructor(pane, { title, hint, complete, changed }) {
    this.problem = h('p', { class: 'problem', hidden: true });
    const host = h('div', { class: 'editor' });
    pane.append(h('h2', {}, title), host, this.problem);
    const root = host.attachShadow({ mode: 'open' });
    const extensions = [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      yaml(),
      marked,
      syntaxHighlighting(colours),
      look,
      placeholder(hint ?? ''),
      // Tab leaves the editor: a person without a mouse must be able to.
      keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
      autocompletion({ override: complete ? [complete] : [], icons: false }),
      EditorView.contentAttributes.of({ 'aria-label': title, spellcheck: 'false', tabindex: '0' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !this.isSet) changed(this.text);
      }),
    ];
    this.view = new EditorView({ state: EditorState.create({ extensions }), parent: root, root });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(text) {
    if (text === this.text) return;
    this.isSet = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
    this.isSet = false;
    this.isNew = true;
  }

  /** Marks the lines that another text does not have, with a class. */
  compare(other, name) {
    const { doc } = this.view.state;
    const others = new Set(other.split('\n').map((line) => line.trim()));
    const ranges = [];
    for (let number = 1; number <= Math.min(doc.lines, 2000); number += 1) {
      const { from, text } = doc.line(number);
      if (text.trim() && !others.has(text.trim())) ranges.push(Decoration.line({ class: name }).range(from));
    }
    const signature = ranges.map(({ from }) => from).join();
    if (signature === this.compared) return;
    this.compared = signature;
    this.view.dispatch({ effects: mark.of(other.trim() ? Decoration.set(ranges) : Decoration.none) });
    if (this.isNew && ranges.length > 0) this.reveal(ranges.at(-1).from);
    this.isNew = false;
  }

  /** Scrolls so far that a line is seen, without moving the page. */
  reveal(position) {
    this.view.requestMeasure({
      read: (view) => view.lineBlockAt(position).bottom + 28 - view.scrollDOM.clientHeight,
      write: (needed, view) => {
        if (needed > view.scrollDOM.scrollTop) view.scrollDOM.scrollTop = needed;
      },
    });
  }

  /** Shows what is wrong, at its lines: `{from, to, message}` each. */
  show(problems) {
    const most = this.view.state.doc.length;
    const within = (position) => Math.max(0, Math.min(most, position));
    const diagnostics = problems.map(({ from, to, message }) => ({
      from: within(from),
      to: Math.max(within(from), within(to)),
      severity: 'error',
      message,
    }));
    const signature = JSON.stringify(diagnostics);
    if (signature === this.shown) return;
    this.shown = signature;
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
    this.problem.hidden = diagnostics.length === 0;
    const first = diagnostics[0];
    this.problem.textContent = first ? `Line ${this.view.state.doc.lineAt(first.from).number}: ${first.message}` : '';
  }
}
