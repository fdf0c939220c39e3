CREATE TYPE "public"."smtp_security" AS ENUM('none', 'starttls', 'tls');--> statement-breakpoint
CREATE TABLE "dashboard_images" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"original_name" text NOT NULL,
	"type" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"storage_path" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "dashboard_images_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "dashboard_images" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "smtp_configs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"host" text,
	"port" integer,
	"security" "smtp_security",
	"username" text,
	"password" text,
	"from_address" text,
	"from_name" text,
	"reply_to" text,
	"verify_tls" boolean DEFAULT true NOT NULL,
	"bug_report_recipient" text,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "smtp_configs_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "smtp_configs_complete" CHECK ("smtp_configs"."host" is null or ("smtp_configs"."port" is not null and "smtp_configs"."security" is not null and "smtp_configs"."from_address" is not null))
);
--> statement-breakpoint
ALTER TABLE "smtp_configs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "welcome_mail_templates" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"subject" text NOT NULL,
	"heading" text NOT NULL,
	"intro" text NOT NULL,
	"closing" text NOT NULL,
	"login_hint_directory" text,
	"login_hint_local" text,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "welcome_mail_templates_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "welcome_mail_templates" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "dashboard_images" ADD CONSTRAINT "dashboard_images_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_images" ADD CONSTRAINT "dashboard_images_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "smtp_configs" ADD CONSTRAINT "smtp_configs_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "welcome_mail_templates" ADD CONSTRAINT "welcome_mail_templates_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dashboard_images_user" ON "dashboard_images" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "smtp_configs_tenant_unique" ON "smtp_configs" USING btree ("tenant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "welcome_mail_templates_tenant_unique" ON "welcome_mail_templates" USING btree ("tenant_id");--> statement-breakpoint
CREATE POLICY "tenant" ON "dashboard_images" AS PERMISSIVE FOR ALL TO "portal_app" USING ("dashboard_images"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("dashboard_images"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "dashboard_images" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "smtp_configs" AS PERMISSIVE FOR ALL TO "portal_app" USING ("smtp_configs"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("smtp_configs"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "smtp_configs" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "welcome_mail_templates" AS PERMISSIVE FOR ALL TO "portal_app" USING ("welcome_mail_templates"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("welcome_mail_templates"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "welcome_mail_templates" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);