CREATE TABLE "tender_mailboxes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"host" text NOT NULL,
	"port" integer NOT NULL,
	"security" "imap_security" NOT NULL,
	"username" text NOT NULL,
	"password" text,
	"folder" text NOT NULL,
	"ca_certificate_pem" text,
	"is_active" boolean NOT NULL,
	"claim" uuid,
	"uid_validity" text,
	"last_uid" bigint,
	"tried_uid" bigint,
	"tries" integer DEFAULT 0 NOT NULL,
	"refusals" integer DEFAULT 0 NOT NULL,
	"next_fetch_at" timestamp (3) with time zone,
	"last_error" "imap_failure",
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tender_mailboxes_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "tender_mailboxes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "tender_mailboxes" ADD CONSTRAINT "tender_mailboxes_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_mailboxes" ADD CONSTRAINT "tender_mailboxes_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "tender_mailboxes_user_unique" ON "tender_mailboxes" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "tender_mailboxes_due" ON "tender_mailboxes" USING btree ("next_fetch_at") WHERE next_fetch_at is not null;--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_mailboxes" AS PERMISSIVE FOR ALL TO "portal_app" USING ("tender_mailboxes"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("tender_mailboxes"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "tender_mailboxes" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
ALTER POLICY "tenant" ON "tender_notices" TO portal_app USING ("tender_notices"."is_public" or "tender_notices"."source_key" = any(array(select own.source_key from rss_feeds own where own.user_id = (select nullif(current_setting('portal.account', true), '')::uuid) union all select 'mailbox:' || (select nullif(current_setting('portal.account', true), '')::uuid)::text)));--> statement-breakpoint
ALTER POLICY "tenant" ON "tenders" TO portal_app USING ("tenders"."only_source" is null or "tenders"."only_source" = any(array(select own.source_key from rss_feeds own where own.user_id = (select nullif(current_setting('portal.account', true), '')::uuid) union all select 'mailbox:' || (select nullif(current_setting('portal.account', true), '')::uuid)::text)));--> statement-breakpoint
ALTER POLICY "tenant" ON "personal_tender_search" TO portal_app USING ("personal_tender_search"."only_source" = any(array(select own.source_key from rss_feeds own where own.user_id = (select nullif(current_setting('portal.account', true), '')::uuid) union all select 'mailbox:' || (select nullif(current_setting('portal.account', true), '')::uuid)::text)));--> statement-breakpoint
ALTER POLICY "tenant" ON "tender_sources" TO portal_app USING (("tender_sources"."url" is null and "tender_sources"."key" not like 'mailbox:%') or ("tender_sources"."key" = 'mailbox:' || (select nullif(current_setting('portal.account', true), '')::uuid)::text and exists (select from tender_mailboxes box where box.user_id = (select nullif(current_setting('portal.account', true), '')::uuid))) or exists (select from rss_feeds feed where feed.source_key = "tender_sources"."key" and (feed.user_id is null or feed.user_id = (select nullif(current_setting('portal.account', true), '')::uuid))));