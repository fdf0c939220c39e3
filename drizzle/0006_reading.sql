CREATE TABLE "ldap_readings" (
	"tenant_id" uuid PRIMARY KEY NOT NULL,
	"run_id" uuid NOT NULL,
	"rules" text NOT NULL,
	"groups_digest" text NOT NULL,
	"imported_sum" text NOT NULL,
	"group_ids" text NOT NULL,
	"entries" "bytea" NOT NULL,
	"directory_ids" text NOT NULL,
	"groups" text NOT NULL,
	"read_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ldap_readings" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
-- Random bytes and ids do not get smaller, and trying takes its time.
ALTER TABLE "ldap_readings" ALTER COLUMN "entries" SET STORAGE EXTERNAL, ALTER COLUMN "directory_ids" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "ldap_readings" ADD CONSTRAINT "ldap_readings_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE POLICY "tenant" ON "ldap_readings" AS PERMISSIVE FOR ALL TO "portal_app" USING ("ldap_readings"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("ldap_readings"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "ldap_readings" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);