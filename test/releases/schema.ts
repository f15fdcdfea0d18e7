import type pg from 'pg'

// A schema as sorted lines, so that two schemas can be compared and their difference can be read. Names of weekly
// partitions depend on their date of creation. Partitions are left out, because they have the structure of their
// parent.

const OBJECTS = `with tables as (
  select c.oid, n.nspname || '.' || c.relname as name, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relowner,
    case when c.relkind in ('r', 'p', 'v') then coalesce(c.relacl, acldefault('r', c.relowner)) else c.relacl end as relacl
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('public', 'engine') and not c.relispartition)
select 'table ' || name || ' ' || relkind::text || ' row security ' || relrowsecurity || ' forced ' || relforcerowsecurity
    || ' owner ' || relowner::regrole as line from tables where relkind in ('r', 'p', 'v', 'S')
union all
select 'column ' || t.name || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || case when a.attnotnull then ' not null' else '' end || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    || ' ' || coalesce(a.attacl::text, '')
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
  where t.relkind in ('r', 'p', 'v')
union all
select 'index ' || pg_get_indexdef(t.oid) || ' valid ' || i.indisvalid
  from tables t join pg_index i on i.indexrelid = t.oid
union all
select 'constraint ' || t.name || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid) || ' valid ' || k.convalidated
  from tables t join pg_constraint k on k.conrelid = t.oid and k.contype <> 'n'
union all
select 'policy ' || t.name || ' ' || p.polname || ' ' || p.polcmd::text || ' ' || coalesce((select string_agg(r::regrole::text, ',' order by r::regrole::text)
      from unnest(p.polroles) as r), '') || ' using ' || coalesce(pg_get_expr(p.polqual, p.polrelid), '')
    || ' check ' || coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '')
  from tables t join pg_policy p on p.polrelid = t.oid
union all
select 'trigger ' || t.name || ' ' || pg_get_triggerdef(g.oid) from tables t join pg_trigger g on g.tgrelid = t.oid
  where not g.tgisinternal
union all
select 'grant on ' || t.name || ' ' || x.grantee::regrole || ' ' || x.privilege_type
  from tables t, aclexplode(t.relacl) x where x.grantee <> 0
union all
select 'function ' || pg_get_functiondef(p.oid) || ' acl ' || coalesce((select string_agg(
      case when x.grantee = 0 then 'public' else x.grantee::regrole::text end || ' ' || x.privilege_type, ',' order by x.grantee::regrole::text)
    from aclexplode(p.proacl) x), 'default')
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('public', 'engine')`

export async function readSchema(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(OBJECTS)
  return rows.map(({ line }) => line).sort()
}
