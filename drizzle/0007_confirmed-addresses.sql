CREATE TABLE "email_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"email" text NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"mail_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "email_tokens_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "email_tokens" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "password_tokens" ADD COLUMN "email" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "temporary_password_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "pending_email" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "pending_email_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "email_tokens" ADD CONSTRAINT "email_tokens_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "email_tokens" ADD CONSTRAINT "email_tokens_tenant_id_mail_id_mails_tenant_id_id_fk" FOREIGN KEY ("tenant_id","mail_id") REFERENCES "public"."mails"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "email_tokens" ADD CONSTRAINT "email_tokens_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "email_tokens_hash_unique" ON "email_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "email_tokens_user" ON "email_tokens" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE INDEX "email_tokens_mail" ON "email_tokens" USING btree ("tenant_id","mail_id");--> statement-breakpoint
CREATE INDEX "email_tokens_expires" ON "email_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "users_pending_email" ON "users" USING btree ("pending_email_until") WHERE pending_email is not null;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_pending_email" CHECK (("users"."pending_email" is null) = ("users"."pending_email_until" is null));--> statement-breakpoint
CREATE POLICY "tenant" ON "email_tokens" AS PERMISSIVE FOR ALL TO "portal_app" USING ("email_tokens"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("email_tokens"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "email_tokens" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);