ALTER TABLE "runs" DROP CONSTRAINT "runs_tenant_id_started_by_users_tenant_id_id_fk";
--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_tenant_id_started_by_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","started_by") REFERENCES "public"."users"("tenant_id","id") ON DELETE set null ("started_by") ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_entries_action" ON "audit_entries" USING btree ("action","id");--> statement-breakpoint
CREATE INDEX "audit_entries_actor" ON "audit_entries" USING btree ("actor_id","id");--> statement-breakpoint
-- Blank names were stored as they came, and shown as nobody. Forced policies would hide every row from this statement.
ALTER TABLE "users" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
UPDATE "users" SET "display_name" = nullif(btrim("display_name"), ''), "first_name" = nullif(btrim("first_name"), ''), "last_name" = nullif(btrim("last_name"), '')
WHERE btrim("display_name") = '' OR btrim("first_name") = '' OR btrim("last_name") = '';--> statement-breakpoint
ALTER TABLE "users" FORCE ROW LEVEL SECURITY;
