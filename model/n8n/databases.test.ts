import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { base, byHand, convertNodes, convertOne, lang, nodesOf } from '#test/n8n/convert'
import { MYSQL, POSTGRES, SQL_SERVER, statementsOf } from './nodes/sql.ts'

// Databases, n8n data tables and vector stores.

const credentials = { postgres: { id: '1', name: 'Shop DB' } }
const connection_id = { $ref: 'vars.connection_shop_db' }

describe('a statement', () => {
  test.each<[query: string, text: string, values: object[]]>([
    ['select 1', 'select 1', []],
    [
      "=select * from a where b = '{{ $json.b }}'",
      'select * from a where b = $1',
      [{ source: '$json.b', isText: true }],
    ],
    [
      "=select * from a where b like '%{{ $json.b }}%' limit {{ 5 }}",
      "select * from a where b like ('%' || $1::text || '%') limit $2",
      [
        { source: '$json.b', isText: true },
        { source: '5', isText: false },
      ],
    ],
    ["select 'it''s; {x}' as \"a'b\" -- c'", "select 'it''s; {x}' as \"a'b\" -- c'", []],
    [
      'select * from a where b = $2 and c = $1',
      'select * from a where b = $1 and c = $2',
      [{ number: 2 }, { number: 1 }],
    ],
    ["select $$it's $1$$", "select $$it's $1$$", []],
  ])('%s', (query, text, values) => {
    expect(statementsOf(query, POSTGRES)).toEqual([{ text, values }])
  })

  test('is written in the dialect of the database', () => {
    const query = "=select 'a{{ 1 }}' where b = {{ 2 }}"
    expect(statementsOf(query, MYSQL)[0]!.text).toBe("select concat('a', ?) where b = ?")
    expect(statementsOf(query, SQL_SERVER)[0]!.text).toBe("select concat('a', @p1) where b = @p2")
  })

  test('is split at semicolons outside of texts', () => {
    const query = "create table a (b text default ';'); -- one\ninsert into a values ('x');\n"
    expect(statementsOf(query, POSTGRES).map(({ text }) => text)).toEqual([
      "create table a (b text default ';')",
      "-- one\ninsert into a values ('x')",
    ])
  })

  test.each([
    '={{ $json.query }}',
    '=select * from {{ $json.t }}',
    '=select {{ $json.c }}',
    '=where a in ({{ $json.ids }})',
    '=select "{{ $json.c }}"',
  ])('whose text comes from data is to be done by hand: %s', (query) => {
    expect(() => statementsOf(query, POSTGRES)).toThrow(/computed/)
  })
})

describe('a database', () => {
  const one = (parameters: JsonObject) => convertOne('postgres', parameters, { credentials, typeVersion: 2.5 })

  test('is queried with parameters, through a connection that a variable names', () => {
    const converted = one({
      operation: 'executeQuery',
      query: "=select * from a where b = '{{ $json.b }}' and c = $1",
      options: { queryReplacement: '={{ $json.c }},{{ $json.d }}' },
    })
    expect(byHand(converted)).toEqual([])
    expect(nodesOf(converted, 'warehouse.query')[0]!.args).toMatchObject({
      connection_id,
      query: 'select * from a where b = $1 and c = $2',
      params: [{ $cel: expect.stringContaining('b') }, { $ref: expect.stringContaining('.c') }],
    })
  })

  test.each<[JsonObject, type: string, args: JsonObject]>([
    [
      {
        operation: 'select',
        schema: { __rl: true, mode: 'list', value: 'crm' },
        table: { __rl: true, mode: 'list', value: 'people' },
        where: {
          values: [
            { column: 'age', condition: '>', value: 3 },
            { column: 'gone', condition: 'IS NULL' },
          ],
        },
        sort: { values: [{ column: 'age', direction: 'DESC' }] },
        limit: 7,
      },
      'warehouse.query',
      {
        query: 'select * from "crm"."people" where "age" > $1 and "gone" is null order by "age" desc',
        params: [3],
        limit: 7,
      },
    ],
    [
      {
        operation: 'update',
        table: 'people',
        columns: { mappingMode: 'defineBelow', value: { id: 1, name: 'A' }, matchingColumns: ['id'] },
      },
      'warehouse.execute',
      { statement: 'update "people" set "name" = $1 where "id" = $2' },
    ],
    [
      {
        operation: 'deleteTable',
        table: 'people',
        deleteCommand: 'delete',
        where: { values: [{ column: 'id', value: 4 }] },
      },
      'warehouse.execute',
      { statement: 'delete from "people" where "id" = $1', params: [4] },
    ],
    [
      {
        operation: 'upsert',
        table: 'people',
        columns: { mappingMode: 'defineBelow', value: { id: 1 }, matchingColumns: ['id'] },
      },
      'warehouse.execute',
      { table: 'people', key: ['id'] },
    ],
    [
      { operation: 'executeQuery', query: 'create table a (b text)' },
      'warehouse.execute',
      { statement: 'create table a (b text)' },
    ],
  ])('%j', (parameters, type, args) => {
    const converted = one(parameters)
    expect(byHand(converted)).toEqual([])
    expect(nodesOf(converted, type)[0]!.args).toMatchObject({ connection_id, ...args })
  })

  test('reports unsupported operations as to be done by hand, and empty parameters as a remark', () => {
    expect(byHand(one({ operation: 'executeQuery', query: 'insert into a values (1) returning id' }))).toEqual([
      'It: a statement that writes returns rows',
    ])
    expect(byHand(one({ operation: 'select' }))).toEqual([])
  })

  test('is a tool for agents, with statements of the author or of the model', () => {
    const tool = (name: string, query: string) => ({
      name,
      type: base('postgresTool'),
      parameters: { operation: 'executeQuery', query },
      credentials,
    })
    const converted = convertNodes(
      [
        { name: 'Start', type: base('manualTrigger') },
        { name: 'Agent', type: lang('agent'), parameters: { promptType: 'define', text: 'Go' } },
        tool('Tables', 'select table_name from information_schema.tables'),
        tool('Query', "{{ $fromAI('query') }}"),
      ],
      [
        ['Start', 'Agent'],
        ['Tables', 'Agent', 'ai_tool'],
        ['Query', 'Agent', 'ai_tool'],
      ],
    )
    expect(byHand(converted)).toEqual([])
    expect(nodesOf(converted, 'agent.run')[0]!.args!.tools).toEqual([
      {
        type: 'warehouse.query',
        arguments: {
          fixed: { connection_id, query: 'select table_name from information_schema.tables', limit: 10_000 },
        },
      },
      { type: 'warehouse.query', arguments: { fixed: { connection_id } } },
    ])
  })
})

describe('a vector store', () => {
  const store = (name: string, parameters: JsonObject) => ({
    name,
    type: lang('vectorStorePinecone'),
    parameters: { pineconeIndex: { __rl: true, mode: 'list', value: 'docs' }, ...parameters },
  })
  const knowledge_id = { $ref: 'vars.knowledge_docs' }

  test('is filled with texts and files, and searched', () => {
    const converted = convertNodes(
      [
        { name: 'Start', type: base('manualTrigger') },
        store('Insert', { mode: 'insert' }),
        {
          name: 'Loader',
          type: lang('documentDefaultDataLoader'),
          parameters: { jsonMode: 'expressionData', jsonData: '={{ $json.text }}' },
        },
        store('Files', { mode: 'insert' }),
        { name: 'File loader', type: lang('documentDefaultDataLoader'), parameters: { dataType: 'binary' } },
        store('Find', { mode: 'load', prompt: '={{ $json.q }}', topK: 3 }),
      ],
      [
        ['Start', 'Insert'],
        ['Loader', 'Insert', 'ai_document'],
        ['Insert', 'Files'],
        ['File loader', 'Files', 'ai_document'],
        ['Files', 'Find'],
      ],
    )
    expect(byHand(converted)).toEqual([])
    expect(nodesOf(converted, 'knowledge.add')).toHaveLength(2)
    expect(nodesOf(converted, 'knowledge.add')[0]!.args).toMatchObject({ knowledge_id })
    expect(nodesOf(converted, 'file.convert')[0]!.args).toMatchObject({ to: 'text' })
    expect(nodesOf(converted, 'knowledge.search')[0]!.args).toMatchObject({ knowledge_id, limit: 3 })
  })

  test('is a tool for agents and answers questions', () => {
    const converted = convertNodes(
      [
        { name: 'Start', type: base('manualTrigger') },
        { name: 'Agent', type: lang('agent'), parameters: { promptType: 'define', text: 'Go' } },
        store('Tool', { mode: 'retrieve-as-tool', toolDescription: 'Knows all', topK: 6 }),
        { name: 'Old tool', type: lang('toolVectorStore'), parameters: { description: 'Knows more' } },
        store('Below', {}),
        {
          name: 'Answer',
          type: lang('chainRetrievalQa'),
          parameters: { promptType: 'define', text: '={{ $json.output }}' },
        },
        { name: 'Retriever', type: lang('retrieverVectorStore'), parameters: {} },
        store('Far below', {}),
      ],
      [
        ['Start', 'Agent'],
        ['Tool', 'Agent', 'ai_tool'],
        ['Old tool', 'Agent', 'ai_tool'],
        ['Below', 'Old tool', 'ai_vectorStore'],
        ['Agent', 'Answer'],
        ['Retriever', 'Answer', 'ai_retriever'],
        ['Far below', 'Retriever', 'ai_vectorStore'],
      ],
    )
    expect(byHand(converted)).toEqual([])
    expect(nodesOf(converted, 'agent.run')[0]!.args!.tools).toEqual([
      { type: 'knowledge.search', arguments: { fixed: { knowledge_id, limit: 6 } } },
      { type: 'knowledge.search', arguments: { fixed: { knowledge_id, limit: 4 } } },
    ])
    expect(nodesOf(converted, 'knowledge.search')).toHaveLength(1)
  })
})
