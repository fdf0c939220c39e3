CREATE UNLOGGED TABLE "ldap_snapshot_entries" (
	"tenant_id" uuid NOT NULL,
	"directory_id" text NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"belonging" text NOT NULL,
	"is_live" boolean NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"row_hash" bigint,
	"memberships_hash" bigint NOT NULL,
	CONSTRAINT "ldap_snapshot_entries_tenant_id_directory_id_pk" PRIMARY KEY("tenant_id","directory_id")
);
--> statement-breakpoint
ALTER TABLE "ldap_snapshot_entries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "ldap_snapshots" (
	"tenant_id" uuid PRIMARY KEY NOT NULL,
	"settings_hash" text NOT NULL,
	"groups_digest" text NOT NULL,
	"taken_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ldap_snapshots" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE UNLOGGED TABLE "ldap_staged_entries" (
	"tenant_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"directory_id" text NOT NULL,
	"standing" text NOT NULL,
	"ldap_dn" text NOT NULL,
	"username" text,
	"email" text,
	"has_bad_email" boolean NOT NULL,
	"display_name" text,
	"first_name" text,
	"last_name" text,
	"groups" integer[] NOT NULL,
	"fingerprint" text NOT NULL,
	"belonging" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"staged_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ldap_staged_entries_tenant_id_run_id_attempt_directory_id_pk" PRIMARY KEY("tenant_id","run_id","attempt","directory_id")
);
--> statement-breakpoint
ALTER TABLE "ldap_staged_entries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "ldap_snapshot_entries" ADD CONSTRAINT "ldap_snapshot_entries_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ldap_snapshots" ADD CONSTRAINT "ldap_snapshots_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ldap_staged_entries" ADD CONSTRAINT "ldap_staged_entries_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE POLICY "tenant" ON "ldap_snapshot_entries" AS PERMISSIVE FOR ALL TO "portal_app" USING ("ldap_snapshot_entries"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("ldap_snapshot_entries"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "ldap_snapshot_entries" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "ldap_snapshots" AS PERMISSIVE FOR ALL TO "portal_app" USING ("ldap_snapshots"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("ldap_snapshots"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "ldap_snapshots" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "ldap_staged_entries" AS PERMISSIVE FOR ALL TO "portal_app" USING ("ldap_staged_entries"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("ldap_staged_entries"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "ldap_staged_entries" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);