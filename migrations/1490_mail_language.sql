-- Breaks nothing: a column. A process of an earlier release writes mails in English. The language of mails to a person.

alter table users add column language text check (length(language) between 2 and 10);
grant select (language), update (language) on users to heddle_app;
