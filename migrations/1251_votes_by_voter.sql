-- Breaks nothing: a new index. The decisions that a person has made, newest first.

create index approval_votes_by_voter on approval_votes (workspace_id, voter_id, request_id desc) where voter_kind = 'human';
