CREATE TYPE "public"."calendar_error" AS ENUM('unreachable', 'unauthorized', 'notFound', 'certificate', 'timeout', 'invalid');--> statement-breakpoint
CREATE TYPE "public"."calendar_kind" AS ENUM('ics', 'caldav');--> statement-breakpoint
CREATE TABLE "calendar_sources" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"kind" "calendar_kind" NOT NULL,
	"origin" text NOT NULL,
	"url" text NOT NULL,
	"username" text,
	"password" text,
	"color" text NOT NULL,
	"is_active" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"checked_at" timestamp (3) with time zone,
	"error" "calendar_error",
	"body_path" text,
	"validators" jsonb,
	"covers_from" timestamp (3) with time zone,
	"covers_to" timestamp (3) with time zone,
	"claim" uuid,
	"claimed_until" timestamp (3) with time zone,
	CONSTRAINT "calendar_sources_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "calendar_sources_claim" CHECK (("calendar_sources"."claim" is null) = ("calendar_sources"."claimed_until" is null))
);
--> statement-breakpoint
ALTER TABLE "calendar_sources" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "calendar_sources" ADD CONSTRAINT "calendar_sources_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "calendar_sources" ADD CONSTRAINT "calendar_sources_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "calendar_sources_user" ON "calendar_sources" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "calendar_sources_body" ON "calendar_sources" USING btree ("body_path") WHERE body_path is not null;--> statement-breakpoint
CREATE POLICY "tenant" ON "calendar_sources" AS PERMISSIVE FOR ALL TO "portal_app" USING ("calendar_sources"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("calendar_sources"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "calendar_sources" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);