// Uses every export, as TypeScript sees it.

import { check, nodeChanges, relation, tolerates, validateSettings } from 'placement-guard';
import type { CheckOptions, JsonDocument, NodeChange, NodeChanges, Relation, RelationName, SettingsVerdict, Tolerance, Verdict } from 'placement-guard';

const settings: JsonDocument = { volumeNodeAffinity: {} };
const verdict: Verdict = check('{}', settings);
const options: CheckOptions = { cluster: [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }] };
check('{}', settings, options) satisfies Verdict;
check('{}', settings, { cluster: '[]' }) satisfies Verdict;
check('{}', settings, {}) satisfies Verdict;
verdict.allowed satisfies boolean;
verdict.code satisfies number | null;
verdict.message satisfies string | null;
verdict.findings satisfies string[];
verdict.warnings satisfies string[];
verdict.annotations satisfies Record<string, string>;

const valid: SettingsVerdict = validateSettings(settings);
valid.valid satisfies boolean;
valid.message satisfies string | null;

const related: Relation = relation({ kind: 'PersistentVolume' }, '{}');
const name: RelationName | null = relation('{}', {}, { zones: {} }).relation;
name satisfies 'unchanged' | 'equivalent' | 'widened' | 'narrowed' | 'shifted' | 'undecided' | null;
related.losesNode satisfies Record<string, string> | null;
related.gainsNode satisfies Record<string, string> | null;
related.facts satisfies string | null;
related.warnings satisfies string[];
related.code satisfies number | null;
related.message satisfies string | null;

const changes: NodeChanges = nodeChanges({ kind: 'PersistentVolume' }, '{}', []);
const change: NodeChange | undefined = changes.nodes[0];
change?.name satisfies string | undefined;
change?.change satisfies 'keeps' | 'loses' | 'gains' | 'never' | undefined;
changes.code satisfies number | null;
changes.message satisfies string | null;

const tolerance: Tolerance = tolerates([{ operator: 'Exists' }], { key: 'spot', effect: 'NoExecute' });
tolerance.tolerated satisfies boolean;
tolerance.code satisfies number | null;
tolerance.message satisfies string | null;
