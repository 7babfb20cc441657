from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0015_shipped_logs")]

    operations = [
        migrations.AddField("job", "sealed", models.TextField(blank=True, default="")),
    ]
