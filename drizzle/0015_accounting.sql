CREATE TYPE "public"."payroll_sign" AS ENUM('minus', 'plus');--> statement-breakpoint
CREATE TYPE "public"."payroll_target" AS ENUM('lodas', 'lohn-und-gehalt');--> statement-breakpoint
CREATE TYPE "public"."merchandise_change_kind" AS ENUM('added', 'changed', 'removed');--> statement-breakpoint
CREATE TYPE "public"."merchandise_format" AS ENUM('txt', 'extf');--> statement-breakpoint
CREATE TABLE "canteen_settings" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"beraternummer" text NOT NULL,
	"mandantennummer" text NOT NULL,
	"lohnart" text NOT NULL,
	"target" "payroll_target" NOT NULL,
	"sign" "payroll_sign" NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "canteen_settings_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "canteen_settings" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "merchandise_accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"number" text NOT NULL,
	"name" text NOT NULL,
	"name_key" text NOT NULL,
	CONSTRAINT "merchandise_accounts_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "merchandise_accounts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "merchandise_changes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"kind" "merchandise_change_kind" NOT NULL,
	"number" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "merchandise_changes_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "merchandise_changes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "merchandise_lists" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"version" integer NOT NULL,
	CONSTRAINT "merchandise_lists_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "merchandise_lists" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "merchandise_settings" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"format" "merchandise_format" NOT NULL,
	"separator" text NOT NULL,
	"default_contra_account" text NOT NULL,
	"beraternummer" text NOT NULL,
	"mandantennummer" text NOT NULL,
	"fiscal_year_start" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "merchandise_settings_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "merchandise_settings" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "canteen_settings" ADD CONSTRAINT "canteen_settings_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merchandise_accounts" ADD CONSTRAINT "merchandise_accounts_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merchandise_changes" ADD CONSTRAINT "merchandise_changes_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merchandise_lists" ADD CONSTRAINT "merchandise_lists_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merchandise_settings" ADD CONSTRAINT "merchandise_settings_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "canteen_settings_tenant_unique" ON "canteen_settings" USING btree ("tenant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "merchandise_accounts_number_unique" ON "merchandise_accounts" USING btree ("tenant_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "merchandise_accounts_name_unique" ON "merchandise_accounts" USING btree ("tenant_id","name_key");--> statement-breakpoint
CREATE INDEX "merchandise_changes_version" ON "merchandise_changes" USING btree ("tenant_id","version");--> statement-breakpoint
CREATE INDEX "merchandise_changes_created" ON "merchandise_changes" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "merchandise_lists_tenant_unique" ON "merchandise_lists" USING btree ("tenant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "merchandise_settings_tenant_unique" ON "merchandise_settings" USING btree ("tenant_id");--> statement-breakpoint
CREATE POLICY "tenant" ON "canteen_settings" AS PERMISSIVE FOR ALL TO "portal_app" USING ("canteen_settings"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("canteen_settings"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "canteen_settings" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "merchandise_accounts" AS PERMISSIVE FOR ALL TO "portal_app" USING ("merchandise_accounts"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("merchandise_accounts"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "merchandise_accounts" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "merchandise_changes" AS PERMISSIVE FOR ALL TO "portal_app" USING ("merchandise_changes"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("merchandise_changes"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "merchandise_changes" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "merchandise_lists" AS PERMISSIVE FOR ALL TO "portal_app" USING ("merchandise_lists"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("merchandise_lists"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "merchandise_lists" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "merchandise_settings" AS PERMISSIVE FOR ALL TO "portal_app" USING ("merchandise_settings"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("merchandise_settings"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "merchandise_settings" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);