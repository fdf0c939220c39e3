-- Blank names were stored as they came, and shown as nobody. Forced policies would hide every row from this statement.
ALTER TABLE "users" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
UPDATE "users" SET "display_name" = nullif(btrim("display_name"), ''), "first_name" = nullif(btrim("first_name"), ''), "last_name" = nullif(btrim("last_name"), '')
WHERE btrim("display_name") = '' OR btrim("first_name") = '' OR btrim("last_name") = '';--> statement-breakpoint
ALTER TABLE "users" FORCE ROW LEVEL SECURITY;
