/** The workflow in the example requests of the OpenAPI document. */
export const example = {
  name: 'Greet',
  definition: {
    inputs: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    nodes: [{ id: 'greet', type: 'set', args: { values: { text: { $cel: '"Hello " + input.name' } } } }],
    edges: [],
    output: { $cel: 'nodes.greet.output.text' },
  },
}
