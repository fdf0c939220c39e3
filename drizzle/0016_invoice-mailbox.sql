CREATE TYPE "public"."imap_failure" AS ENUM('unreachable', 'certificate', 'unauthorized', 'folderMissing', 'timeout', 'protocol');--> statement-breakpoint
CREATE TYPE "public"."imap_security" AS ENUM('none', 'starttls', 'tls');--> statement-breakpoint
CREATE TYPE "public"."invoice_error" AS ENUM('ENCRYPTED', 'DAMAGED', 'UNSUPPORTED', 'TOO_LARGE', 'XML_REFUSED');--> statement-breakpoint
CREATE TYPE "public"."invoice_format" AS ENUM('xrechnung', 'zugferd', 'ubl', 'cii', 'other');--> statement-breakpoint
CREATE TYPE "public"."invoice_mail_target" AS ENUM('processed', 'failed');--> statement-breakpoint
CREATE TYPE "public"."invoice_state" AS ENUM('new', 'processed', 'duplicate', 'failed');--> statement-breakpoint
CREATE TABLE "invoice_files" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"invoice_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"file_name" text NOT NULL,
	"type" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"sha256" "bytea" NOT NULL,
	"path" text NOT NULL,
	CONSTRAINT "invoice_files_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "invoice_files" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "invoice_mailboxes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"host" text NOT NULL,
	"port" integer NOT NULL,
	"security" "imap_security" NOT NULL,
	"username" text NOT NULL,
	"password" text,
	"folder" text NOT NULL,
	"ca_certificate_pem" text,
	"is_active" boolean NOT NULL,
	"processed_folder" text,
	"failed_folder" text,
	"box_id" uuid NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"next_fetch_at" timestamp (3) with time zone,
	"last_fetched_at" timestamp (3) with time zone,
	"last_error" "imap_failure",
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "invoice_mailboxes_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "invoice_mailboxes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "invoice_mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"box_id" uuid NOT NULL,
	"uid_validity" text NOT NULL,
	"uid" bigint NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"is_settled" boolean NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"move_to" "invoice_mail_target",
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "invoice_mails_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "invoice_mails" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "invoices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"mail_id" uuid NOT NULL,
	"state" "invoice_state" NOT NULL,
	"error" "invoice_error",
	"duplicate_of" uuid,
	"format" "invoice_format" NOT NULL,
	"type_code" text,
	"number" text,
	"date" date,
	"due_date" date,
	"seller" text,
	"seller_vat_id" text,
	"buyer" text,
	"currency" text,
	"total_cents" bigint,
	"payable_cents" bigint,
	"iban" text,
	"received_at" timestamp (3) with time zone NOT NULL,
	"sender" text,
	"subject" text,
	"identity" text,
	CONSTRAINT "invoices_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "invoices_failed_why" CHECK ("invoices"."state" <> 'failed' or "invoices"."error" is not null)
);
--> statement-breakpoint
ALTER TABLE "invoices" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "invoice_files" ADD CONSTRAINT "invoice_files_tenant_id_invoice_id_invoices_tenant_id_id_fk" FOREIGN KEY ("tenant_id","invoice_id") REFERENCES "public"."invoices"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_files" ADD CONSTRAINT "invoice_files_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_mailboxes" ADD CONSTRAINT "invoice_mailboxes_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_mails" ADD CONSTRAINT "invoice_mails_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_tenant_id_mail_id_invoice_mails_tenant_id_id_fk" FOREIGN KEY ("tenant_id","mail_id") REFERENCES "public"."invoice_mails"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_tenant_id_duplicate_of_invoices_tenant_id_id_fk" FOREIGN KEY ("tenant_id","duplicate_of") REFERENCES "public"."invoices"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_files_sha256_unique" ON "invoice_files" USING btree ("tenant_id","sha256");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_files_position_unique" ON "invoice_files" USING btree ("tenant_id","invoice_id","position");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_files_path_unique" ON "invoice_files" USING btree ("path");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_mailboxes_tenant_unique" ON "invoice_mailboxes" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "invoice_mailboxes_due" ON "invoice_mailboxes" USING btree ("next_fetch_at") WHERE next_fetch_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_mails_uid_unique" ON "invoice_mails" USING btree ("tenant_id","box_id","uid_validity","uid");--> statement-breakpoint
CREATE INDEX "invoice_mails_fingerprint" ON "invoice_mails" USING btree ("tenant_id","fingerprint");--> statement-breakpoint
CREATE INDEX "invoice_mails_left" ON "invoice_mails" USING btree ("tenant_id","box_id") WHERE not is_settled or move_to is not null;--> statement-breakpoint
CREATE INDEX "invoices_newest" ON "invoices" USING btree ("tenant_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "invoices_identity" ON "invoices" USING btree ("tenant_id","identity") WHERE identity is not null;--> statement-breakpoint
CREATE INDEX "invoices_mail" ON "invoices" USING btree ("tenant_id","mail_id");--> statement-breakpoint
CREATE INDEX "invoices_duplicate_of" ON "invoices" USING btree ("tenant_id","duplicate_of");--> statement-breakpoint
CREATE POLICY "tenant" ON "invoice_files" AS PERMISSIVE FOR ALL TO "portal_app" USING ("invoice_files"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("invoice_files"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "invoice_files" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "invoice_mailboxes" AS PERMISSIVE FOR ALL TO "portal_app" USING ("invoice_mailboxes"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("invoice_mailboxes"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "invoice_mailboxes" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "invoice_mails" AS PERMISSIVE FOR ALL TO "portal_app" USING ("invoice_mails"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("invoice_mails"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "invoice_mails" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "invoices" AS PERMISSIVE FOR ALL TO "portal_app" USING ("invoices"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("invoices"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "invoices" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);