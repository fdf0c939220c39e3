CREATE TABLE "tender_notices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tender_id" uuid NOT NULL,
	"is_primary" boolean DEFAULT false NOT NULL,
	"source_key" text NOT NULL,
	"is_public" boolean NOT NULL,
	"notice_key" text NOT NULL,
	"source_notice_id" text NOT NULL,
	"notice_version" integer NOT NULL,
	"source_url" text,
	"source_day" date,
	"missed_looks" smallint DEFAULT 0 NOT NULL,
	"notice_uuid" text,
	"publication_number" text,
	"bund_id" text,
	"procedure_uuid" text,
	"portal_ids" text[] NOT NULL,
	"fingerprint" text,
	"changed_notice_uuid" text,
	"changed_publication_number" text,
	"is_correction" boolean NOT NULL,
	"is_cancelled" boolean NOT NULL,
	"form" text,
	"notice_type" text,
	"subtype" text,
	"procedure_type" text,
	"nature" text,
	"language" text,
	"title" text NOT NULL,
	"description" text,
	"buyer_name" text,
	"buyer_city" text,
	"cpv_codes" text[] NOT NULL,
	"cpv_divisions" text[] NOT NULL,
	"nuts_codes" text[] NOT NULL,
	"bundeslaender" text[] NOT NULL,
	"bundesland" text,
	"bundesland_source" text,
	"is_nationwide" boolean NOT NULL,
	"region" text,
	"published_at" timestamp (3) with time zone NOT NULL,
	"deadlines" jsonb NOT NULL,
	"value_cents" bigint,
	"currency" text,
	"documents_url" text,
	"lots" jsonb NOT NULL,
	"hash" text NOT NULL,
	"first_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tender_notices_key_unique" UNIQUE("source_key","notice_key")
);
--> statement-breakpoint
ALTER TABLE "tender_notices" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tender_payloads" (
	"notice_id" uuid PRIMARY KEY NOT NULL,
	"format" text NOT NULL,
	"body" "bytea" NOT NULL,
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tender_payloads" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tenders" (
	"id" uuid PRIMARY KEY NOT NULL,
	"only_source" text,
	"merged_into" uuid,
	"first_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tenders" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "personal_tender_search" (
	"tender_id" uuid PRIMARY KEY NOT NULL,
	"published_at" timestamp (3) with time zone NOT NULL,
	"deadline_at" timestamp (3) with time zone NOT NULL,
	"deadline_is_date_only" boolean NOT NULL,
	"open_until" timestamp (3) with time zone NOT NULL,
	"is_open" boolean NOT NULL,
	"source_keys" text[] NOT NULL,
	"bundeslaender" text[] NOT NULL,
	"is_nationwide" boolean NOT NULL,
	"cpv_divisions" text[] NOT NULL,
	"value_cents" bigint,
	"currency" text,
	"document" "tsvector" NOT NULL,
	"only_source" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "personal_tender_search" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tender_search" (
	"tender_id" uuid PRIMARY KEY NOT NULL,
	"published_at" timestamp (3) with time zone NOT NULL,
	"deadline_at" timestamp (3) with time zone NOT NULL,
	"deadline_is_date_only" boolean NOT NULL,
	"open_until" timestamp (3) with time zone NOT NULL,
	"is_open" boolean NOT NULL,
	"source_keys" text[] NOT NULL,
	"bundeslaender" text[] NOT NULL,
	"is_nationwide" boolean NOT NULL,
	"cpv_divisions" text[] NOT NULL,
	"value_cents" bigint,
	"currency" text,
	"document" "tsvector" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tender_search" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "rss_feeds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid,
	"user_id" uuid,
	"url" text NOT NULL,
	"title" text,
	"is_active" boolean DEFAULT true NOT NULL,
	"source_key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "rss_feeds_url_unique" UNIQUE NULLS NOT DISTINCT("user_id","url"),
	CONSTRAINT "rss_feeds_owner_complete" CHECK (("rss_feeds"."tenant_id" is null) = ("rss_feeds"."user_id" is null))
);
--> statement-breakpoint
ALTER TABLE "rss_feeds" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tender_sources" (
	"key" text PRIMARY KEY NOT NULL,
	"url" text,
	"watermark" date,
	"etag" text,
	"last_modified" text,
	"body_hash" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"next_run_at" timestamp (3) with time zone,
	"last_run_at" timestamp (3) with time zone,
	"last_success_at" timestamp (3) with time zone,
	"error" text,
	"new_count" integer DEFAULT 0 NOT NULL,
	"moved_to" text,
	"moved_count" integer DEFAULT 0 NOT NULL,
	"is_gone" boolean DEFAULT false NOT NULL,
	CONSTRAINT "tender_sources_url_unique" UNIQUE("url")
);
--> statement-breakpoint
ALTER TABLE "tender_sources" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tender_triage" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"tender_id" uuid NOT NULL,
	"is_read" boolean DEFAULT false NOT NULL,
	"is_favorite" boolean DEFAULT false NOT NULL,
	CONSTRAINT "tender_triage_tenant_id_user_id_tender_id_pk" PRIMARY KEY("tenant_id","user_id","tender_id")
);
--> statement-breakpoint
ALTER TABLE "tender_triage" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "tender_notices" ADD CONSTRAINT "tender_notices_tender_id_tenders_id_fk" FOREIGN KEY ("tender_id") REFERENCES "public"."tenders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_notices" ADD CONSTRAINT "tender_notices_source_key_tender_sources_key_fk" FOREIGN KEY ("source_key") REFERENCES "public"."tender_sources"("key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_payloads" ADD CONSTRAINT "tender_payloads_notice_id_tender_notices_id_fk" FOREIGN KEY ("notice_id") REFERENCES "public"."tender_notices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tenders" ADD CONSTRAINT "tenders_merged_into_tenders_id_fk" FOREIGN KEY ("merged_into") REFERENCES "public"."tenders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "personal_tender_search" ADD CONSTRAINT "personal_tender_search_tender_id_tenders_id_fk" FOREIGN KEY ("tender_id") REFERENCES "public"."tenders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_search" ADD CONSTRAINT "tender_search_tender_id_tenders_id_fk" FOREIGN KEY ("tender_id") REFERENCES "public"."tenders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rss_feeds" ADD CONSTRAINT "rss_feeds_source_key_tender_sources_key_fk" FOREIGN KEY ("source_key") REFERENCES "public"."tender_sources"("key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rss_feeds" ADD CONSTRAINT "rss_feeds_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_triage" ADD CONSTRAINT "tender_triage_tender_id_tenders_id_fk" FOREIGN KEY ("tender_id") REFERENCES "public"."tenders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_triage" ADD CONSTRAINT "tender_triage_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_triage" ADD CONSTRAINT "tender_triage_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "tender_notices_tender" ON "tender_notices" USING btree ("tender_id");--> statement-breakpoint
CREATE UNIQUE INDEX "tender_notices_primary_unique" ON "tender_notices" USING btree ("tender_id") WHERE is_primary;--> statement-breakpoint
CREATE INDEX "tender_notices_source_day" ON "tender_notices" USING btree ("source_key","source_day");--> statement-breakpoint
CREATE INDEX "tender_notices_notice_uuid" ON "tender_notices" USING btree ("notice_uuid");--> statement-breakpoint
CREATE INDEX "tender_notices_publication_number" ON "tender_notices" USING btree ("publication_number");--> statement-breakpoint
CREATE INDEX "tender_notices_bund_id" ON "tender_notices" USING btree ("bund_id");--> statement-breakpoint
CREATE INDEX "tender_notices_portal_ids" ON "tender_notices" USING gin ("portal_ids");--> statement-breakpoint
CREATE INDEX "tender_notices_fingerprint" ON "tender_notices" USING btree ("fingerprint");--> statement-breakpoint
CREATE INDEX "tender_notices_changed_notice_uuid" ON "tender_notices" USING btree ("changed_notice_uuid");--> statement-breakpoint
CREATE INDEX "tender_notices_changed_publication_number" ON "tender_notices" USING btree ("changed_publication_number");--> statement-breakpoint
CREATE INDEX "tender_payloads_stored" ON "tender_payloads" USING btree ("stored_at");--> statement-breakpoint
CREATE INDEX "tenders_merged_into" ON "tenders" USING btree ("merged_into");--> statement-breakpoint
CREATE INDEX "tenders_changed" ON "tenders" USING btree ("changed_at");--> statement-breakpoint
CREATE INDEX "personal_tender_search_source" ON "personal_tender_search" USING btree ("only_source","published_at");--> statement-breakpoint
CREATE INDEX "tender_search_published" ON "tender_search" USING btree ("published_at" DESC NULLS FIRST,"tender_id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "tender_search_open" ON "tender_search" USING btree ("published_at" DESC NULLS FIRST,"tender_id" DESC NULLS FIRST) WHERE is_open;--> statement-breakpoint
CREATE INDEX "tender_search_open_deadline" ON "tender_search" USING btree ("deadline_at","tender_id") WHERE is_open;--> statement-breakpoint
CREATE INDEX "tender_search_document" ON "tender_search" USING gin ("document") WITH (gin_pending_list_limit=1024);--> statement-breakpoint
CREATE INDEX "rss_feeds_user" ON "rss_feeds" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "rss_feeds_source" ON "rss_feeds" USING btree ("source_key");--> statement-breakpoint
CREATE INDEX "tender_sources_due" ON "tender_sources" USING btree ("next_run_at");--> statement-breakpoint
CREATE INDEX "tender_triage_tender" ON "tender_triage" USING btree ("tender_id");--> statement-breakpoint
CREATE INDEX "tender_triage_favorites" ON "tender_triage" USING btree ("tenant_id","user_id") WHERE is_favorite;--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_notices" AS PERMISSIVE FOR SELECT TO "portal_app" USING ("tender_notices"."is_public" or "tender_notices"."source_key" = any(array(select own.source_key from rss_feeds own where own.user_id = (select nullif(current_setting('portal.account', true), '')::uuid))));--> statement-breakpoint
CREATE POLICY "across" ON "tender_notices" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_payloads" AS PERMISSIVE FOR SELECT TO "portal_app" USING (false);--> statement-breakpoint
CREATE POLICY "across" ON "tender_payloads" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tenders" AS PERMISSIVE FOR SELECT TO "portal_app" USING ("tenders"."only_source" is null or "tenders"."only_source" = any(array(select own.source_key from rss_feeds own where own.user_id = (select nullif(current_setting('portal.account', true), '')::uuid))));--> statement-breakpoint
CREATE POLICY "across" ON "tenders" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "personal_tender_search" AS PERMISSIVE FOR SELECT TO "portal_app" USING ("personal_tender_search"."only_source" = any(array(select own.source_key from rss_feeds own where own.user_id = (select nullif(current_setting('portal.account', true), '')::uuid))));--> statement-breakpoint
CREATE POLICY "across" ON "personal_tender_search" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_search" AS PERMISSIVE FOR SELECT TO "portal_app" USING (true);--> statement-breakpoint
CREATE POLICY "across" ON "tender_search" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "rss_feeds" AS PERMISSIVE FOR SELECT TO "portal_app" USING ("rss_feeds"."user_id" is null or ("rss_feeds"."tenant_id" = (select current_setting('portal.tenant')::uuid) and "rss_feeds"."user_id" = (select nullif(current_setting('portal.account', true), '')::uuid)));--> statement-breakpoint
CREATE POLICY "across" ON "rss_feeds" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_sources" AS PERMISSIVE FOR SELECT TO "portal_app" USING ("tender_sources"."url" is null or exists (select from rss_feeds feed where feed.source_key = "tender_sources"."key" and (feed.user_id is null or feed.user_id = (select nullif(current_setting('portal.account', true), '')::uuid))));--> statement-breakpoint
CREATE POLICY "across" ON "tender_sources" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_triage" AS PERMISSIVE FOR ALL TO "portal_app" USING ("tender_triage"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("tender_triage"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "tender_triage" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);