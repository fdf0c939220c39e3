CREATE TABLE "reminders" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"title" text NOT NULL,
	"note" text,
	"due_at" timestamp (3) with time zone NOT NULL,
	"occurrence_id" uuid NOT NULL,
	"email_enabled" boolean DEFAULT false NOT NULL,
	"email_queued_at" timestamp (3) with time zone,
	"email_sent_at" timestamp (3) with time zone,
	"email_attempts" integer DEFAULT 0 NOT NULL,
	"done_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reminders_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "reminders" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "snoozed_reminders" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"reminder_id" uuid NOT NULL,
	"title" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "snoozed_reminders_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "snoozed_reminders" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "reminders" ADD CONSTRAINT "reminders_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reminders" ADD CONSTRAINT "reminders_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snoozed_reminders" ADD CONSTRAINT "snoozed_reminders_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snoozed_reminders" ADD CONSTRAINT "snoozed_reminders_tenant_id_reminder_id_reminders_tenant_id_id_fk" FOREIGN KEY ("tenant_id","reminder_id") REFERENCES "public"."reminders"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snoozed_reminders" ADD CONSTRAINT "snoozed_reminders_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "reminders_user_due" ON "reminders" USING btree ("tenant_id","user_id","due_at");--> statement-breakpoint
CREATE INDEX "reminders_mail_due" ON "reminders" USING btree ("due_at") WHERE email_enabled and email_queued_at is null and done_at is null;--> statement-breakpoint
CREATE INDEX "reminders_done" ON "reminders" USING btree ("done_at") WHERE done_at is not null;--> statement-breakpoint
CREATE INDEX "snoozed_reminders_user_due" ON "snoozed_reminders" USING btree ("tenant_id","user_id","due_at");--> statement-breakpoint
CREATE INDEX "snoozed_reminders_reminder" ON "snoozed_reminders" USING btree ("tenant_id","reminder_id");--> statement-breakpoint
CREATE INDEX "snoozed_reminders_due" ON "snoozed_reminders" USING btree ("due_at");--> statement-breakpoint
CREATE POLICY "tenant" ON "reminders" AS PERMISSIVE FOR ALL TO "portal_app" USING ("reminders"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("reminders"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "reminders" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "snoozed_reminders" AS PERMISSIVE FOR ALL TO "portal_app" USING ("snoozed_reminders"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("snoozed_reminders"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "snoozed_reminders" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);