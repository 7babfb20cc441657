from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0003_elastic'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='nodes_wanted_why',
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name='job',
            name='stop_grace_s',
            field=models.FloatField(null=True),
        ),
    ]
