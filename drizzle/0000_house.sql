CREATE TYPE "public"."password_token_purpose" AS ENUM('reset', 'welcome');--> statement-breakpoint
CREATE TYPE "public"."mail_state" AS ENUM('queued', 'sending', 'sent', 'failed', 'skipped', 'not_configured');--> statement-breakpoint
CREATE TYPE "public"."job_outcome" AS ENUM('succeeded', 'failed');--> statement-breakpoint
CREATE TYPE "public"."run_state" AS ENUM('queued', 'running', 'succeeded', 'failed');--> statement-breakpoint
CREATE TYPE "public"."role" AS ENUM('SUPER_ADMIN', 'ADMIN', 'USER');--> statement-breakpoint
CREATE TABLE "password_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"purpose" "password_token_purpose" NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"mail_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "password_tokens_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "password_tokens" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	"ip" text,
	"user_agent" text,
	CONSTRAINT "sessions_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "sessions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"actor_id" uuid,
	"actor_name" text,
	"action" text NOT NULL,
	"target_type" text,
	"target_id" text,
	"summary" text NOT NULL,
	"ip" text
);
--> statement-breakpoint
ALTER TABLE "audit_entries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"key" text NOT NULL,
	"user_id" uuid,
	"data" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"state" "mail_state" DEFAULT 'queued' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"interruptions" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"lease_id" uuid,
	"failure" text,
	"failure_message" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"settled_at" timestamp (3) with time zone,
	CONSTRAINT "mails_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "mails" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "job_outcomes" (
	"name" text PRIMARY KEY NOT NULL,
	"last_run_at" timestamp (3) with time zone NOT NULL,
	"last_state" "job_outcome" NOT NULL,
	"last_duration_ms" integer NOT NULL,
	"runs" bigint DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_windows" (
	"key" "bytea" PRIMARY KEY NOT NULL,
	"hits" timestamp (3) with time zone[] NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"payload" jsonb NOT NULL,
	"state" "run_state" DEFAULT 'queued' NOT NULL,
	"started_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"done" integer,
	"total" integer,
	"error" text,
	CONSTRAINT "runs_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "runs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tenants" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"username" text NOT NULL,
	"email" text,
	"display_name" text,
	"first_name" text,
	"last_name" text,
	"password_hash" text,
	"ldap_dn" text,
	"role" "role" DEFAULT 'USER' NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"must_change_password" boolean DEFAULT false NOT NULL,
	"session_version" integer DEFAULT 1 NOT NULL,
	"last_login_at" timestamp (3) with time zone,
	"welcome_mail_sent_at" timestamp (3) with time zone,
	"avatar_path" text,
	"accent_color" text DEFAULT '#2563eb' NOT NULL,
	"dashboard_background" jsonb,
	"last_seen_release_version" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "users_accent_color" CHECK ("users"."accent_color" ~ '^#[0-9a-f]{6}$')
);
--> statement-breakpoint
ALTER TABLE "users" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "password_tokens" ADD CONSTRAINT "password_tokens_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "password_tokens" ADD CONSTRAINT "password_tokens_tenant_id_mail_id_mails_tenant_id_id_fk" FOREIGN KEY ("tenant_id","mail_id") REFERENCES "public"."mails"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "password_tokens" ADD CONSTRAINT "password_tokens_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_tenant_id_started_by_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","started_by") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "password_tokens_hash_unique" ON "password_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "password_tokens_user" ON "password_tokens" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "password_tokens_mail" ON "password_tokens" USING btree ("tenant_id","mail_id");--> statement-breakpoint
CREATE INDEX "password_tokens_expires" ON "password_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "audit_entries_tenant" ON "audit_entries" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_tenant_action" ON "audit_entries" USING btree ("tenant_id","action","id");--> statement-breakpoint
CREATE INDEX "audit_entries_tenant_actor" ON "audit_entries" USING btree ("tenant_id","actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_at" ON "audit_entries" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "mails_key_unique" ON "mails" USING btree ("tenant_id","key");--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("tenant_id","due_at") WHERE state in ('queued', 'sending');--> statement-breakpoint
CREATE INDEX "mails_settled" ON "mails" USING btree ("settled_at") WHERE settled_at is not null;--> statement-breakpoint
CREATE INDEX "mails_user" ON "mails" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "rate_windows_expires" ON "rate_windows" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "runs_unfinished" ON "runs" USING btree ("due_at") WHERE state in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "runs_finished" ON "runs" USING btree ("finished_at") WHERE finished_at is not null;--> statement-breakpoint
CREATE INDEX "runs_started_by" ON "runs" USING btree ("tenant_id","started_by");--> statement-breakpoint
CREATE UNIQUE INDEX "tenants_name_unique" ON "tenants" USING btree (lower("name"));--> statement-breakpoint
CREATE UNIQUE INDEX "users_username_unique" ON "users" USING btree ("username");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_unique" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "users_tenant_username" ON "users" USING btree ("tenant_id","username");--> statement-breakpoint
CREATE INDEX "users_super_admin" ON "users" USING btree ("id") WHERE role = 'SUPER_ADMIN';--> statement-breakpoint
CREATE POLICY "tenant" ON "password_tokens" AS PERMISSIVE FOR ALL TO "portal_app" USING ("password_tokens"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("password_tokens"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "password_tokens" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "sessions" AS PERMISSIVE FOR ALL TO "portal_app" USING ("sessions"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("sessions"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "sessions" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "audit_entries" AS PERMISSIVE FOR ALL TO "portal_app" USING ("audit_entries"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("audit_entries"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "audit_entries" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "mails" AS PERMISSIVE FOR ALL TO "portal_app" USING ("mails"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("mails"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "mails" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "runs" AS PERMISSIVE FOR ALL TO "portal_app" USING ("runs"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("runs"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "runs" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "tenants" AS PERMISSIVE FOR ALL TO "portal_app" USING ("tenants"."id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("tenants"."id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "tenants" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "users" AS PERMISSIVE FOR ALL TO "portal_app" USING ("users"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("users"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "users" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);