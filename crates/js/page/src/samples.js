// What can be tried with one click: the examples with which Kubernetes announced these features, and a few next to them.

const volume = (name, requirements, extra = '') => `apiVersion: v1
kind: PersistentVolume
metadata: {name: ${name}}
spec:
  csi: {driver: disk.csi.example.com, volumeHandle: ${name}}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions:
${requirements}${extra}`;

const is = (key, values, operator = 'In') => `        - key: ${key}
          operator: ${operator}
          values: [${values}]
`;

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

function node(name, labels) {
  return `- apiVersion: v1
  kind: Node
  metadata:
    name: ${name}
    labels:
${Object.entries({ ...labels, 'kubernetes.io/hostname': name })
  .map(([key, value]) => `      ${key}: ${value}\n`)
  .join('')}`;
}

const list = (nodes) => `apiVersion: v1\nkind: List\nitems:\n${nodes.join('')}`;

const cluster = (more = () => ({})) =>
  list(
    [
      ['us-east1', 'us-east1-b', 4],
      ['us-east1', 'us-east1-c', 3],
      ['us-east1', 'us-east1-d', 2],
      ['us-west1', 'us-west1-a', 3],
    ].flatMap(([region, zone, count]) =>
      Array.from({ length: count }, (_, at) => {
        const name = `node-${zone.slice(3)}-${at + 1}`;
        return node(name, { [REGION]: region, [ZONE]: zone, ...more(zone, at) });
      }),
    ),
  );

/** A cluster of so many nodes, as `kubectl` prints it. */
export function manyNodes(count) {
  const regions = ['us-east1', 'us-west1', 'europe-west4'];
  return list(
    Array.from({ length: count }, (_, at) => {
      const region = regions[at % 3];
      const zone = `${region}-${'abc'[Math.floor(at / 3) % 3]}`;
      return node(`node-${String(at).padStart(4, '0')}`, {
        'beta.kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': `n2-standard-${4 << (at % 4)}`,
        [`provider.com/disktype.gen${at % 5 === 0 ? 1 : 2}`]: 'available',
        [REGION]: region,
        [ZONE]: zone,
      });
    }),
  );
}

const byZone = volume('data', is(ZONE, 'us-east1-b'));
const byRegion = volume('data', is(REGION, 'us-east1'));
const gen1 = volume('data', is('provider.com/disktype.gen1', 'available'));
const gen2 = volume('data', is('provider.com/disktype.gen2', 'available'));
const generations = cluster((_, at) => (at === 0 ? { 'provider.com/disktype.gen1': 'available' } : at === 1 ? { 'provider.com/disktype.gen1': 'available', 'provider.com/disktype.gen2': 'available' } : { 'provider.com/disktype.gen2': 'available' }));
const DEFAULT = 'volumeNodeAffinity: {}\n';

const volumes = [
  { name: 'From a zone to its region', documents: { before: byZone, after: byRegion, nodes: cluster(), settings: DEFAULT } },
  { name: 'To the next disk generation', documents: { before: gen1, after: gen2, nodes: generations, settings: DEFAULT } },
  {
    name: 'A zone is removed',
    documents: { before: volume('data', is(ZONE, 'us-east1-b, us-east1-c')), after: volume('data', is(ZONE, 'us-east1-b')), nodes: cluster(), settings: DEFAULT },
  },
  { name: 'A zone is added', documents: { before: byZone, after: volume('data', is(ZONE, 'us-east1-b, us-east1-c')), nodes: cluster(), settings: DEFAULT } },
  {
    name: 'Written in another way',
    documents: {
      before: volume('data', is(ZONE, 'us-east1-b, us-east1-c')),
      after: volume('data', is(ZONE, 'us-east1-b'), `      - matchExpressions:\n${is(ZONE, 'us-east1-c')}`),
      nodes: cluster(),
      settings: DEFAULT,
    },
  },
  {
    name: '5,000 nodes',
    documents: () => ({
      before: volume('data', is(ZONE, 'us-east1-a, us-east1-b')),
      after: volume('data', is(ZONE, 'us-east1-b, us-east1-c') + is('provider.com/disktype.gen2', 'available')),
      nodes: manyNodes(5000),
      settings: DEFAULT,
    }),
  },
];

const pod = (name, tolerations) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  containers:
  - {name: main, image: "registry.example.com/${name}:1.0"}
  tolerations:
${tolerations}`;

const spot = (threshold, seconds) => `  - key: failure-probability
    operator: Lt
    value: "${threshold}"
    effect: NoExecute
${seconds ? `    tolerationSeconds: ${seconds}\n` : ''}`;

const allowed = (...entries) => `tolerations:\n  allowed:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`;
const PAYMENT = 'key: failure-probability\n    operator: Lt\n    value: "5"\n    effect: NoExecute\n    maxTolerationSeconds: 30';

const tolerations = [
  { name: 'A batch job on spot nodes', documents: { pod: pod('batch', spot(20)), settings: allowed(PAYMENT) } },
  { name: 'The payment service', documents: { pod: pod('payment', spot(5, 30)), settings: allowed(PAYMENT) } },
  {
    name: 'Inference on GPU tiers',
    documents: {
      pod: pod('inference', '  - key: gpu-compute-score\n    operator: Gt\n    value: "400"\n    effect: NoSchedule\n'),
      settings: allowed('{key: gpu-compute-score, operator: Gt, value: "800", effect: NoSchedule}'),
    },
  },
  {
    name: 'Cost and disks',
    documents: {
      pod: pod('report', '  - {key: cost-per-hour, operator: Lt, value: "100", effect: NoSchedule}\n  - {key: disk-iops, operator: Gt, value: "3000", effect: NoSchedule}\n'),
      settings: `${allowed('{key: cost-per-hour, operator: Lt, value: "200", effect: NoSchedule}', '{key: disk-iops, operator: Gt, value: "2000", effect: NoSchedule}')}  denied:\n  - {key: disk-iops, operator: Gt, value: "9000", effect: NoSchedule}\n`,
    },
  },
  {
    name: 'Everything is tolerated',
    documents: { pod: pod('agent', '  - operator: Exists\n'), settings: allowed(PAYMENT, '{key: dedicated, operator: Equal, value: batch, effect: NoSchedule}') },
  },
];

const driver = (tokens, inSecrets) => `apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata:
  name: disk.csi.example.com
spec:
  tokenRequests:
${tokens}  requiresRepublish: true
${inSecrets ? '  serviceAccountTokenInSecrets: true\n' : ''}`;

const TOKEN = '  - audience: example.com\n    expirationSeconds: 3600\n';
const SECRETS = 'csiDriverTokens:\n  requireSecrets: true\n  requireRepublish: true\n';
const ROLLOUT = `csiDriverTokens:
  requireSecrets: true
  rollout:
    minKubelet: "1.35"
    nodePlugins:
    - driver: disk.csi.example.com
      namespace: kube-system
      daemonSet: disk-node
      container: driver
      minVersion: "1.6.0"
`;
const rollout = (kubelet, image) => `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: node-1}
  status: {nodeInfo: {kubeletVersion: v1.35.2}}
- apiVersion: v1
  kind: Node
  metadata: {name: node-2}
  status: {nodeInfo: {kubeletVersion: ${kubelet}}}
- apiVersion: storage.k8s.io/v1
  kind: CSINode
  metadata: {name: node-1}
  spec: {drivers: [{name: disk.csi.example.com, nodeID: node-1, topologyKeys: []}]}
- apiVersion: storage.k8s.io/v1
  kind: CSINode
  metadata: {name: node-2}
  spec: {drivers: [{name: disk.csi.example.com, nodeID: node-2, topologyKeys: []}]}
- apiVersion: apps/v1
  kind: DaemonSet
  metadata: {name: disk-node, namespace: kube-system, generation: 3}
  spec: {template: {spec: {containers: [{name: driver, image: "registry.example.com/disk:${image}"}]}}}
  status: {observedGeneration: 3, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, numberReady: 2, numberMisscheduled: 0}
`;

const drivers = [
  { name: 'Tokens move to secrets', documents: { before: driver(TOKEN, false), after: driver(TOKEN, true), settings: SECRETS } },
  { name: 'Tokens stay in the volume context', documents: { after: driver(TOKEN, false), settings: SECRETS } },
  { name: 'Before every node is ready', documents: { before: driver(TOKEN, false), after: driver(TOKEN, true), settings: ROLLOUT, cluster: rollout('v1.34.1', 'v1.5.9') } },
  { name: 'After every node is ready', documents: { before: driver(TOKEN, false), after: driver(TOKEN, true), settings: ROLLOUT, cluster: rollout('v1.35.2', 'v1.6.0') } },
  {
    name: 'An audience that is not allowed',
    documents: {
      before: driver(TOKEN, true),
      after: driver(`${TOKEN}  - audience: vault\n`, true),
      settings: `${SECRETS}  audiences:\n  - drivers: ["*.example.com"]\n    allow: [example.com]\n`,
    },
  },
];

const requests = [
  {
    name: 'A claim that one pod should use',
    documents: {
      request: `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: regional-ssd
  resources: {requests: {storage: 10Gi}}
`,
      settings: 'accessModes:\n  singleWriter:\n  - storageClasses: ["regional*"]\n    namespaces: ["*"]\n    level: require\n',
    },
  },
  {
    name: 'A local volume on two nodes',
    documents: {
      request: `apiVersion: v1
kind: PersistentVolume
metadata: {name: local-1}
spec:
  capacity: {storage: 100Gi}
  accessModes: [ReadWriteOnce]
  local: {path: /mnt/disks/ssd1}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-1, node-2]}]
`,
      settings: 'localVolumes:\n  pinned: true\n  paths: [/mnt/disks]\n',
    },
  },
  {
    name: 'A second pod of the same claim',
    documents: {
      request: `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: registry.example.com/web:1.0}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`,
      settings: 'accessModes:\n  sharedClaims: deny\n',
      cluster: `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data, namespace: shop}
  spec: {accessModes: [ReadWriteOncePod]}
`,
    },
  },
  {
    name: 'Two volumes on different nodes',
    documents: {
      request: `apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: shop}
spec:
  containers: [{name: main, image: registry.example.com/db:1.0}]
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data-db-0}}
  - {name: logs, persistentVolumeClaim: {claimName: logs-db-0}}
`,
      settings: 'volumeBinding:\n  unreachableTogether: deny\n',
      cluster: list(['data', 'logs'].map((of, at) => `- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: ${of}-db-0, namespace: shop}
  spec: {volumeName: local-${of}}
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: local-${of}}
  spec:
    local: {path: /mnt/disks/${of}}
    nodeAffinity:
      required:
        nodeSelectorTerms:
        - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-${at + 1}]}]
`)),
    },
  },
  {
    name: 'A taint that should be a number',
    documents: {
      request: `apiVersion: v1
kind: Node
metadata: {name: node-1}
spec:
  taints:
  - {key: failure-probability, value: high, effect: NoExecute}
`,
      settings: 'nodeTaints:\n  numericKeys: [failure-probability]\n',
    },
  },
  {
    name: 'An AdmissionReview',
    documents: {
      request: `apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  uid: 7f0a4f1e-0000-4000-8000-000000000000
  kind: {group: "", version: v1, kind: PersistentVolume}
  resource: {group: "", version: v1, resource: persistentvolumes}
  operation: UPDATE
  name: data
  userInfo: {username: admin}
  oldObject: {apiVersion: v1, kind: PersistentVolume, metadata: {name: data}, spec: {}}
  object:
    apiVersion: v1
    kind: PersistentVolume
    metadata: {name: data}
    spec:
      nodeAffinity:
        required:
          nodeSelectorTerms:
          - matchExpressions: [{key: ${ZONE}, operator: In, values: [us-east1-b]}]
`,
      settings: 'volumeNodeAffinity: {}\n',
    },
  },
];

export const samples = { volumes, tolerations, drivers, requests };
