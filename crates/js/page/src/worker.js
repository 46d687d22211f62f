// Reads nodes next to the page, so that a long paste does not hold up typing.

import { readNodes } from './nodes.js';

addEventListener('message', ({ data: { turn, text } }) => {
  const { nodes, problems } = readNodes(text);
  postMessage({ turn, nodes, problems });
});
