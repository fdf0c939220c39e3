CREATE TYPE "public"."tender_alert_kind" AS ENUM('digest', 'instant');--> statement-breakpoint
CREATE TYPE "public"."tender_change_kind" AS ENUM('cancelled', 'deadline', 'corrected');--> statement-breakpoint
CREATE TYPE "public"."tender_digest_rhythm" AS ENUM('daily', 'weekly', 'off');--> statement-breakpoint
CREATE TABLE "tender_change_notices" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"change_id" uuid NOT NULL,
	"noticed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"alert_id" uuid,
	"notified_at" timestamp (3) with time zone,
	CONSTRAINT "tender_change_notices_user_id_change_id_pk" PRIMARY KEY("user_id","change_id")
);
--> statement-breakpoint
ALTER TABLE "tender_change_notices" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tender_changes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tender_id" uuid NOT NULL,
	"successor" text NOT NULL,
	"kind" "tender_change_kind" NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tender_changes_successor_unique" UNIQUE("tender_id","successor")
);
--> statement-breakpoint
ALTER TABLE "tender_changes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tender_matches" (
	"tenant_id" uuid NOT NULL,
	"search_id" uuid NOT NULL,
	"tender_id" uuid NOT NULL,
	"kind" "tender_alert_kind" NOT NULL,
	"reasons" text[] NOT NULL,
	"matched_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"alert_id" uuid,
	"notified_at" timestamp (3) with time zone,
	"is_told" boolean DEFAULT false NOT NULL,
	CONSTRAINT "tender_matches_search_id_tender_id_pk" PRIMARY KEY("search_id","tender_id")
);
--> statement-breakpoint
ALTER TABLE "tender_matches" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "unmatched_tenders" (
	"tender_id" uuid PRIMARY KEY NOT NULL,
	"is_told" boolean NOT NULL,
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "unmatched_tenders" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "saved_searches" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"filters" jsonb NOT NULL,
	"instant_alert" boolean DEFAULT false NOT NULL,
	"question" "tsquery",
	"bounds" text NOT NULL,
	"term_labels" text[] NOT NULL,
	"term_questions" text[] NOT NULL,
	"compiler_version" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "saved_searches_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "saved_searches" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tender_preferences" (
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"digest" "tender_digest_rhythm" NOT NULL,
	CONSTRAINT "tender_preferences_tenant_id_user_id_pk" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "tender_preferences" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "tender_change_notices" ADD CONSTRAINT "tender_change_notices_change_id_tender_changes_id_fk" FOREIGN KEY ("change_id") REFERENCES "public"."tender_changes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_change_notices" ADD CONSTRAINT "tender_change_notices_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_change_notices" ADD CONSTRAINT "tender_change_notices_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_changes" ADD CONSTRAINT "tender_changes_tender_id_tenders_id_fk" FOREIGN KEY ("tender_id") REFERENCES "public"."tenders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_matches" ADD CONSTRAINT "tender_matches_tender_id_tenders_id_fk" FOREIGN KEY ("tender_id") REFERENCES "public"."tenders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_matches" ADD CONSTRAINT "tender_matches_tenant_id_search_id_saved_searches_tenant_id_id_fk" FOREIGN KEY ("tenant_id","search_id") REFERENCES "public"."saved_searches"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "unmatched_tenders" ADD CONSTRAINT "unmatched_tenders_tender_id_tenders_id_fk" FOREIGN KEY ("tender_id") REFERENCES "public"."tenders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_searches" ADD CONSTRAINT "saved_searches_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_searches" ADD CONSTRAINT "saved_searches_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_preferences" ADD CONSTRAINT "tender_preferences_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tender_preferences" ADD CONSTRAINT "tender_preferences_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "tender_change_notices_change" ON "tender_change_notices" USING btree ("change_id");--> statement-breakpoint
CREATE INDEX "tender_change_notices_user" ON "tender_change_notices" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "tender_change_notices_owed" ON "tender_change_notices" USING btree ("noticed_at") WHERE notified_at is null and alert_id is null;--> statement-breakpoint
CREATE INDEX "tender_change_notices_alert" ON "tender_change_notices" USING btree ("alert_id") WHERE alert_id is not null;--> statement-breakpoint
CREATE INDEX "tender_matches_tender" ON "tender_matches" USING btree ("tender_id");--> statement-breakpoint
CREATE INDEX "tender_matches_owed" ON "tender_matches" USING btree ("kind","matched_at") WHERE notified_at is null;--> statement-breakpoint
CREATE INDEX "tender_matches_alert" ON "tender_matches" USING btree ("alert_id") WHERE alert_id is not null;--> statement-breakpoint
CREATE INDEX "tender_matches_matched" ON "tender_matches" USING brin ("matched_at");--> statement-breakpoint
CREATE INDEX "unmatched_tenders_stored" ON "unmatched_tenders" USING btree ("stored_at");--> statement-breakpoint
CREATE UNIQUE INDEX "saved_searches_name_unique" ON "saved_searches" USING btree ("user_id",lower("name"));--> statement-breakpoint
CREATE INDEX "saved_searches_user" ON "saved_searches" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "saved_searches_compiler_version" ON "saved_searches" USING btree ("compiler_version");--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_change_notices" AS PERMISSIVE FOR ALL TO "portal_app" USING ("tender_change_notices"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("tender_change_notices"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "tender_change_notices" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_changes" AS PERMISSIVE FOR SELECT TO "portal_app" USING (exists (select from tenders seen where seen.id = "tender_changes"."tender_id"));--> statement-breakpoint
CREATE POLICY "across" ON "tender_changes" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_matches" AS PERMISSIVE FOR ALL TO "portal_app" USING ("tender_matches"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("tender_matches"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "tender_matches" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "unmatched_tenders" AS PERMISSIVE FOR SELECT TO "portal_app" USING (false);--> statement-breakpoint
CREATE POLICY "across" ON "unmatched_tenders" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "saved_searches" AS PERMISSIVE FOR ALL TO "portal_app" USING ("saved_searches"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("saved_searches"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "saved_searches" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tender_preferences" AS PERMISSIVE FOR ALL TO "portal_app" USING ("tender_preferences"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("tender_preferences"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "tender_preferences" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);