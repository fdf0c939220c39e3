CREATE TYPE "public"."server_auth_method" AS ENUM('token', 'password');--> statement-breakpoint
CREATE TYPE "public"."server_failure" AS ENUM('zugang', 'rechte', 'antwortform', 'server', 'netz', 'zertifikat');--> statement-breakpoint
CREATE TYPE "public"."server_kind" AS ENUM('virtualization', 'backup', 'mail-gateway');--> statement-breakpoint
CREATE TYPE "public"."server_state" AS ENUM('ok', 'unknown', 'warning', 'critical');--> statement-breakpoint
CREATE TABLE "monitored_servers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"kind" "server_kind" NOT NULL,
	"name" text NOT NULL,
	"address" text NOT NULL,
	"auth_method" "server_auth_method" NOT NULL,
	"token_id" text,
	"token_secret" text,
	"username" text,
	"password" text,
	"verify_tls" boolean NOT NULL,
	"ca_certificate_pem" text,
	"poll_interval_min" integer NOT NULL,
	"is_active" boolean NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "monitored_servers_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "monitored_servers_interval" CHECK ("monitored_servers"."poll_interval_min" between 1 and 1440),
	CONSTRAINT "monitored_servers_no_token" CHECK ("monitored_servers"."kind" <> 'mail-gateway' or "monitored_servers"."auth_method" = 'password')
);
--> statement-breakpoint
ALTER TABLE "monitored_servers" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "poll_plans" (
	"tenant_id" uuid PRIMARY KEY NOT NULL,
	"next_poll_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "poll_plans" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "server_statuses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	"state" "server_state" NOT NULL,
	"failure" "server_failure",
	"message" text,
	"checked_at" timestamp (3) with time zone NOT NULL,
	"last_ok_at" timestamp (3) with time zone,
	"headline" text NOT NULL,
	"facts" jsonb NOT NULL,
	"rules" jsonb NOT NULL,
	"not_examined" jsonb NOT NULL,
	"changes" jsonb NOT NULL,
	"missed" integer NOT NULL,
	"took_ms" integer NOT NULL,
	"memory" jsonb NOT NULL,
	CONSTRAINT "server_statuses_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "server_statuses" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "monitored_servers" ADD CONSTRAINT "monitored_servers_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "poll_plans" ADD CONSTRAINT "poll_plans_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_statuses" ADD CONSTRAINT "server_statuses_tenant_id_id_monitored_servers_tenant_id_id_fk" FOREIGN KEY ("tenant_id","id") REFERENCES "public"."monitored_servers"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_statuses" ADD CONSTRAINT "server_statuses_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "poll_plans_due" ON "poll_plans" USING btree ("next_poll_at") WHERE next_poll_at is not null;--> statement-breakpoint
CREATE POLICY "tenant" ON "monitored_servers" AS PERMISSIVE FOR ALL TO "portal_app" USING ("monitored_servers"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("monitored_servers"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "monitored_servers" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "poll_plans" AS PERMISSIVE FOR ALL TO "portal_app" USING ("poll_plans"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("poll_plans"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "poll_plans" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "server_statuses" AS PERMISSIVE FOR ALL TO "portal_app" USING ("server_statuses"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("server_statuses"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "server_statuses" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);