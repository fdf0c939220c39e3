CREATE TYPE "public"."ldap_field" AS ENUM('username', 'email', 'displayName', 'firstName', 'lastName');--> statement-breakpoint
CREATE TYPE "public"."ldap_sync_trigger" AS ENUM('manual', 'schedule');--> statement-breakpoint
CREATE TABLE "ldap_configs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"server_url" text NOT NULL,
	"start_tls" boolean DEFAULT false NOT NULL,
	"base_dn" text NOT NULL,
	"bind_dn" text,
	"bind_password" text,
	"user_filter" text,
	"sync_interval_min" integer NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"include_dns" text[] DEFAULT '{}' NOT NULL,
	"user_exclude_list" text[] DEFAULT '{}' NOT NULL,
	"skip_tls_verify" boolean DEFAULT false NOT NULL,
	"ca_certificate_pem" text,
	"next_sync_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ldap_configs_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "ldap_configs_interval" CHECK ("ldap_configs"."sync_interval_min" between 5 and 10080)
);
--> statement-breakpoint
ALTER TABLE "ldap_configs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "ldap_mappings" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"ldap_attribute" text NOT NULL,
	"field" "ldap_field" NOT NULL,
	"is_default" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ldap_mappings_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "ldap_mappings" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE UNLOGGED TABLE "ldap_staged_people" (
	"tenant_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"part" integer NOT NULL,
	"directory_ids" text[] NOT NULL,
	"standings" text[] NOT NULL,
	"dns" text[] NOT NULL,
	"usernames" text[] NOT NULL,
	"emails" text[] NOT NULL,
	"email_faults" text[] NOT NULL,
	"display_names" text[] NOT NULL,
	"first_names" text[] NOT NULL,
	"last_names" text[] NOT NULL,
	"groups" text[] NOT NULL,
	"staged_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ldap_staged_people_tenant_id_run_id_attempt_part_pk" PRIMARY KEY("tenant_id","run_id","attempt","part")
);
--> statement-breakpoint
ALTER TABLE "ldap_staged_people" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "ldap_sync_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"trigger" "ldap_sync_trigger" NOT NULL,
	"is_blocked" boolean DEFAULT false NOT NULL,
	"counts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"warnings" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ldap_sync_runs_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "ldap_sync_runs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "directory_id" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "deactivated_by_sync" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "ldap_configs" ADD CONSTRAINT "ldap_configs_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ldap_mappings" ADD CONSTRAINT "ldap_mappings_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ldap_staged_people" ADD CONSTRAINT "ldap_staged_people_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ldap_sync_runs" ADD CONSTRAINT "ldap_sync_runs_tenant_id_id_runs_tenant_id_id_fk" FOREIGN KEY ("tenant_id","id") REFERENCES "public"."runs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ldap_sync_runs" ADD CONSTRAINT "ldap_sync_runs_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "ldap_configs_tenant_unique" ON "ldap_configs" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "ldap_configs_due" ON "ldap_configs" USING btree ("next_sync_at") WHERE next_sync_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "ldap_mappings_unique" ON "ldap_mappings" USING btree ("tenant_id",lower("ldap_attribute"),"field");--> statement-breakpoint
CREATE INDEX "ldap_sync_runs_newest" ON "ldap_sync_runs" USING btree ("tenant_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "runs_directory_sync_unique" ON "runs" USING btree ("tenant_id") WHERE kind = 'directory.sync' and state in ('queued', 'running');--> statement-breakpoint
CREATE UNIQUE INDEX "users_directory_id_unique" ON "users" USING btree ("tenant_id","directory_id");--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_deactivated_by_sync" CHECK (not ("users"."is_active" and "users"."deactivated_by_sync"));--> statement-breakpoint
CREATE POLICY "tenant" ON "ldap_configs" AS PERMISSIVE FOR ALL TO "portal_app" USING ("ldap_configs"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("ldap_configs"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "ldap_configs" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "ldap_mappings" AS PERMISSIVE FOR ALL TO "portal_app" USING ("ldap_mappings"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("ldap_mappings"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "ldap_mappings" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "ldap_staged_people" AS PERMISSIVE FOR ALL TO "portal_app" USING ("ldap_staged_people"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("ldap_staged_people"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "ldap_staged_people" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "ldap_sync_runs" AS PERMISSIVE FOR ALL TO "portal_app" USING ("ldap_sync_runs"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("ldap_sync_runs"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "ldap_sync_runs" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);