-- Breaks nothing: a right to read. People look at the items of maps and the turns of loops one by one.

grant select (workspace_id, execution_id, path, index, status, state, output, error, usage) on map_items to heddle_app;
