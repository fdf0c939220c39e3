CREATE TYPE "public"."cloud_check_state" AS ENUM('ok', 'failed');--> statement-breakpoint
CREATE TABLE "cloud_instances" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"customer_name" text NOT NULL,
	"status_url" text NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"logo_path" text,
	"logo_type" text,
	"slot_sec" integer NOT NULL,
	"next_check_at" timestamp (3) with time zone NOT NULL,
	"lease_id" uuid,
	"leased_until" timestamp (3) with time zone,
	"last_check_state" "cloud_check_state",
	"reported_state" "cloud_check_state" DEFAULT 'ok' NOT NULL,
	"consecutive_failures" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"failure" text,
	"message" text,
	"checked_at" timestamp (3) with time zone,
	"last_ok_at" timestamp (3) with time zone,
	"is_maintenance" boolean DEFAULT false NOT NULL,
	"needs_db_upgrade" boolean DEFAULT false NOT NULL,
	"version" text,
	"release" text,
	"has_extended_support" boolean DEFAULT false NOT NULL,
	"product_name" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "cloud_instances_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "cloud_instances_logo_complete" CHECK (("cloud_instances"."logo_path" is null) = ("cloud_instances"."logo_type" is null)),
	CONSTRAINT "cloud_instances_lease_complete" CHECK (("cloud_instances"."lease_id" is null) = ("cloud_instances"."leased_until" is null)),
	CONSTRAINT "cloud_instances_slot" CHECK ("cloud_instances"."slot_sec" between 0 and 3599)
);
--> statement-breakpoint
ALTER TABLE "cloud_instances" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "cloud_subscriptions" (
	"tenant_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	CONSTRAINT "cloud_subscriptions_tenant_id_instance_id_user_id_pk" PRIMARY KEY("tenant_id","instance_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "cloud_subscriptions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "cloud_outage_notices" (
	"tenant_id" uuid NOT NULL,
	"outage_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"told_with" uuid,
	"sent_at" timestamp (3) with time zone,
	CONSTRAINT "cloud_outage_notices_tenant_id_outage_id_user_id_pk" PRIMARY KEY("tenant_id","outage_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "cloud_outage_notices" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "cloud_outages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"failure" text NOT NULL,
	"message" text NOT NULL,
	"failing_since" timestamp (3) with time zone NOT NULL,
	"reported_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "cloud_outages_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "cloud_outages" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "cloud_transitions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"from" "cloud_check_state" NOT NULL,
	"to" "cloud_check_state" NOT NULL,
	"reason" text NOT NULL,
	CONSTRAINT "cloud_transitions_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "cloud_transitions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "cloud_instances" ADD CONSTRAINT "cloud_instances_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_subscriptions" ADD CONSTRAINT "cloud_subscriptions_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_subscriptions" ADD CONSTRAINT "cloud_subscriptions_tenant_id_instance_id_cloud_instances_tenant_id_id_fk" FOREIGN KEY ("tenant_id","instance_id") REFERENCES "public"."cloud_instances"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_subscriptions" ADD CONSTRAINT "cloud_subscriptions_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_outage_notices" ADD CONSTRAINT "cloud_outage_notices_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_outage_notices" ADD CONSTRAINT "cloud_outage_notices_tenant_id_outage_id_cloud_outages_tenant_id_id_fk" FOREIGN KEY ("tenant_id","outage_id") REFERENCES "public"."cloud_outages"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_outage_notices" ADD CONSTRAINT "cloud_outage_notices_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_outages" ADD CONSTRAINT "cloud_outages_tenant_id_instance_id_cloud_instances_tenant_id_id_fk" FOREIGN KEY ("tenant_id","instance_id") REFERENCES "public"."cloud_instances"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_outages" ADD CONSTRAINT "cloud_outages_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_transitions" ADD CONSTRAINT "cloud_transitions_tenant_id_instance_id_cloud_instances_tenant_id_id_fk" FOREIGN KEY ("tenant_id","instance_id") REFERENCES "public"."cloud_instances"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_transitions" ADD CONSTRAINT "cloud_transitions_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "cloud_instances_due" ON "cloud_instances" USING btree ("next_check_at") WHERE is_active;--> statement-breakpoint
CREATE INDEX "cloud_instances_tenant_due" ON "cloud_instances" USING btree ("tenant_id","next_check_at") WHERE is_active;--> statement-breakpoint
CREATE INDEX "cloud_instances_checked" ON "cloud_instances" USING btree ("tenant_id","checked_at");--> statement-breakpoint
CREATE INDEX "cloud_instances_logo" ON "cloud_instances" USING btree ("logo_path") WHERE logo_path is not null;--> statement-breakpoint
CREATE INDEX "cloud_subscriptions_user" ON "cloud_subscriptions" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "cloud_outage_notices_user" ON "cloud_outage_notices" USING btree ("tenant_id","user_id","sent_at");--> statement-breakpoint
CREATE INDEX "cloud_outage_notices_told_with" ON "cloud_outage_notices" USING btree ("tenant_id","user_id","told_with");--> statement-breakpoint
CREATE UNIQUE INDEX "cloud_outages_open_unique" ON "cloud_outages" USING btree ("tenant_id","instance_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "cloud_outages_instance" ON "cloud_outages" USING btree ("tenant_id","instance_id");--> statement-breakpoint
CREATE INDEX "cloud_outages_ended" ON "cloud_outages" USING btree ("ended_at") WHERE ended_at is not null;--> statement-breakpoint
CREATE INDEX "cloud_transitions_tenant" ON "cloud_transitions" USING btree ("tenant_id","at","id");--> statement-breakpoint
CREATE INDEX "cloud_transitions_instance" ON "cloud_transitions" USING btree ("tenant_id","instance_id","at","id");--> statement-breakpoint
CREATE INDEX "cloud_transitions_at" ON "cloud_transitions" USING btree ("at");--> statement-breakpoint
CREATE POLICY "tenant" ON "cloud_instances" AS PERMISSIVE FOR ALL TO "portal_app" USING ("cloud_instances"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("cloud_instances"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "cloud_instances" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "cloud_subscriptions" AS PERMISSIVE FOR ALL TO "portal_app" USING ("cloud_subscriptions"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("cloud_subscriptions"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "cloud_subscriptions" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "cloud_outage_notices" AS PERMISSIVE FOR ALL TO "portal_app" USING ("cloud_outage_notices"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("cloud_outage_notices"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "cloud_outage_notices" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "cloud_outages" AS PERMISSIVE FOR ALL TO "portal_app" USING ("cloud_outages"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("cloud_outages"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "cloud_outages" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "cloud_transitions" AS PERMISSIVE FOR ALL TO "portal_app" USING ("cloud_transitions"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("cloud_transitions"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "cloud_transitions" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);